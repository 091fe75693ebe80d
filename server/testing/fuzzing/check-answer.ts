/** Holds answers against the OpenAPI document, as a client would that has nothing else. */
import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formatsModule from 'ajv-formats';
import { openApiDocument } from '#contract/documents/openapi.ts';
import type { Operation } from '#contract/schema/operation.ts';

const document = openApiDocument({ version: '0' });
const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
formatsModule.default(ajv);
ajv.addSchema({ ...document, $id: 'openapi' });

interface Described {
  readonly responses: Readonly<Record<string, { readonly $ref?: string; readonly content?: object }>>;
}

interface Answer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

const { responses: sharedResponses } = document['components'] as Described;

const compiled = new Map<string, ValidateFunction>();

const escaped = (part: string) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));

/** @throws AssertionError for a status, a content type or a body that the document does not have */
export function checkAnswer({ path, method, name }: Operation, answer: Answer, what: string): void {
  const { statusCode, headers, body } = answer;
  const paths = document['paths'] as Readonly<Record<string, Readonly<Record<string, Described>>>>;
  const response = paths[path]?.[method.toLowerCase()]?.responses[statusCode];
  assert.ok(statusCode < 500, `${name} answered ${statusCode} to ${what}: ${body}`);
  assert.ok(response, `${name} answered ${statusCode} to ${what}, which the document does not list: ${body}`);
  if (statusCode === 304 || statusCode === 302) return;
  const type = String(headers['content-type']).split(';')[0] ?? '';
  const pointer = response.$ref ?? `#/paths/${escaped(path)}/${method.toLowerCase()}/responses/${statusCode}`;
  const [, shared = ''] = /^#\/components\/responses\/(\w+)$/.exec(response.$ref ?? '') ?? [];
  const { content } = response.$ref === undefined ? response : (sharedResponses[shared] ?? response);
  const contents = Object.keys(content ?? {});
  const types = contents.map((each) => each.split(';')[0]);
  assert.ok(types.includes(type), `${name} answered ${type} to ${what}`);
  if (type !== 'application/json') return;
  const reference = `openapi${pointer}/content/${escaped(type)}/schema`;
  const validate = compiled.get(reference) ?? ajv.compile({ $ref: reference });
  compiled.set(reference, validate);
  const errors = () => JSON.stringify(validate.errors);
  assert.ok(validate(JSON.parse(body)), `${name} answered ${body} to ${what}: ${errors()}`);
}
