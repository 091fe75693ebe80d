/** The interface as an OpenAPI 3.1 document, from the same values that the server checks requests with. */

import { hasTextErrors } from '../mcp/text-errors.ts';
import { operations } from '../operations.ts';
import { ErrorBody, type ErrorCode, errors } from '../schema/errors.ts';
import { hasMarks } from '../schema/no-effect.ts';
import { apiBase, type Operation, rightsOf } from '../schema/operation.ts';
import { hasTag, isRepeatable, isVersioned, readerOf } from '../schema/reader-of.ts';
import { warningHeader } from '../schema/warning-header.ts';
import { type JsonSchema, jsonSchemaOf, pathSchemaOf, shapesIn, typesOf } from './describe-schema.ts';
import { sentSchema } from './sent-schema.ts';

type JsonObject = Record<string, unknown>;

const errorCodes = Object.keys(errors) as ErrorCode[];

const bodyTypes = { json: 'application/json', binary: 'application/octet-stream' } as const;
const replyTypes = {
  json: 'application/json',
  'event-stream': 'text/event-stream',
  binary: 'application/octet-stream',
} as const;

const controls = '\\x00-\\x1f\\x7f-\\x9f';

/** A pattern as the regular expressions of other languages read it, too: many know no classes of Unicode. */
function portable(pattern: string): string {
  return pattern.replaceAll('\\P{Cc}', `[^${controls}]`).replaceAll('\\p{Cc}', controls);
}

/** Moves titled shapes into `components`, where each occurs once. */
function publisher(components: Map<string, JsonObject>) {
  const inner = (schema: JsonSchema): JsonObject => ({
    ...schema,
    ...(schema.pattern === undefined ? {} : { pattern: portable(schema.pattern) }),
    ...(schema.properties ? { properties: mapValues(schema.properties, publish) } : {}),
    ...(schema.items ? { items: publish(schema.items) } : {}),
    ...(schema.anyOf ? { anyOf: schema.anyOf.map(publish) } : {}),
    ...(typeof schema.additionalProperties === 'object'
      ? { additionalProperties: publish(schema.additionalProperties) }
      : {}),
  });
  function publish(schema: JsonSchema): JsonObject {
    const { title, items } = schema;
    const isNullable = typesOf(schema).includes('null');
    if (!title && schema.properties && items) {
      return {
        anyOf: [
          publish(items),
          { type: 'array', items: publish(items) },
          ...(isNullable ? [{ type: 'null' }] : []),
        ],
      };
    }
    if (!title) return inner(schema);
    if (!components.has(title)) {
      components.set(title, {});
      components.set(title, inner(isNullable ? { ...schema, type: 'object' } : schema));
    }
    const reference = { $ref: `#/components/schemas/${title}` };
    return isNullable ? { anyOf: [reference, { type: 'null' }] } : reference;
  }
  return publish;
}

function mapValues<In, Out>(
  record: Readonly<Record<string, In>>,
  change: (value: In) => Out,
): Record<string, Out> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}

function parameters(
  place: 'path' | 'query',
  schema: JsonSchema | undefined,
  publish: (schema: JsonSchema) => JsonObject,
): JsonObject[] {
  return Object.entries(schema?.properties ?? {}).map(([name, { description, ...value }]) => ({
    name,
    in: place,
    required: place === 'path' || (schema?.required?.includes(name) ?? false),
    ...(description ? { description } : {}),
    schema: publish(value),
  }));
}

/** The codes that an operation can refuse with, in the order of the table. */
function refusals(operation: Operation): ErrorCode[] {
  const { method, needs, params, body, bodyKind, refusesWith = [] } = operation;
  const isChange = method !== 'GET';
  const possible: Partial<Record<ErrorCode, boolean>> = {
    bad_request: true,
    unauthorized: needs !== 'nothing',
    // With any credentials, too: what a caller may see can depend on more than a right.
    forbidden: isChange || needs !== 'nothing',
    not_found: params !== undefined,
    request_timeout: body !== undefined,
    conflict: isChange,
    precondition_failed: isVersioned(operation),
    payload_too_large: body !== undefined,
    uri_too_long: params !== undefined,
    unsupported_media_type: body !== undefined && bodyKind !== 'binary',
    unprocessable: body !== undefined,
    rate_limited: true,
    headers_too_large: true,
    internal: true,
    unavailable: true,
  };
  return errorCodes.filter((code) => possible[code] === true || refusesWith.includes(code));
}

/** The headers of a request that have the same meaning in every operation that reads them. */
function requestHeaders(operation: Operation): JsonObject[] {
  return [
    ...(isRepeatable(operation) ? ['IdempotencyKey'] : []),
    ...(readerOf(operation) ? ['IfMatch'] : []),
    ...(hasTag(operation) ? ['IfNoneMatch'] : []),
  ].map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

const headerParameters = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Any text that the caller uses for one request only: the same request with the same key is carried out ' +
      'once, and answered again as the first time',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]+$' },
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    description: 'The `ETag` of what is changed: refused with 412 if another request has changed it since',
    schema: { type: 'string' },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'The `ETag` of the reply that the caller has: answered with 304 if it is still the same',
    schema: { type: 'string' },
  },
};

/** Of every operation: an unknown query parameter is not an error. */
const warningHeaders = {
  Warning: {
    description:
      'Present where the request has query parameters that the operation does not have: they are ignored, and this ' +
      'names them. Several sentences are separated by " | "',
    schema: { type: 'string' },
  },
  WarningOfOptions: {
    description:
      'One sentence per option of the request that is stored but has no effect yet, and one that names query ' +
      'parameters that the operation does not have, which are ignored; several sentences are separated by " | "',
    schema: { type: 'string' },
  },
};

function warningHeaderOf({ body, params }: Operation): JsonObject {
  const hasOptions = [body, params].some((part) => part && hasMarks(part));
  const name = hasOptions ? 'WarningOfOptions' : 'Warning';
  return { [warningHeader]: { $ref: `#/components/headers/${name}` } };
}

const tagHeader = {
  etag: {
    description: 'The version of this reply, for `If-Match` and `If-None-Match`',
    schema: { type: 'string' },
  },
};

const replayedHeader = {
  'idempotency-replayed': {
    description: '"true" where this is the answer to an earlier request with the same `Idempotency-Key`',
    schema: { type: 'string' },
  },
};

function replyHeaders(operation: Operation): JsonObject {
  return {
    ...warningHeaderOf(operation),
    ...(hasTag(operation) ? tagHeader : {}),
    ...(isRepeatable(operation) ? replayedHeader : {}),
  };
}

/** The reply; where query parameters leave fields out of it, a part is right, too. */
function replySchema(
  { name, reply, projectedBy }: Operation,
  publish: (schema: JsonSchema) => JsonObject,
): JsonObject {
  const schema = jsonSchemaOf(reply, name);
  if (!projectedBy) return publish(schema);
  const names = projectedBy.map((each) => `\`${each}\``).join(' or ');
  const part = { type: 'object', description: `A part of it, where ${names} leave fields out` };
  const orPart = (whole: JsonSchema): JsonObject => ({ anyOf: [publish(whole), part] });
  return schema.items ? { ...schema, items: orPart(schema.items) } : orPart(schema);
}

function successOf(operation: Operation, publish: (schema: JsonSchema) => JsonObject): JsonObject {
  const { replyKind = 'json' } = operation;
  const schema = replySchema(operation, publish);
  if (replyKind === 'redirect')
    return {
      302: {
        description: 'The browser is led on',
        headers: { location: { schema }, ...warningHeaderOf(operation) },
      },
    };
  return {
    200: {
      description: 'Success',
      headers: replyHeaders(operation),
      content: { [operation.replyType ?? replyTypes[replyKind]]: { schema } },
    },
  };
}

/** With what a key means where it has no effect, although clients may send one with every change. */
function descriptionOf({ description = '', asksOthers = false }: Operation): string {
  const note =
    'It waits for the answers of others: an `Idempotency-Key` is ignored, and a repetition asks again.';
  return asksOthers ? `${description} ${note}`.trimStart() : description;
}

/** The response of a refusal in plain text. */
const textResponse = (code: string) => `${code}_as_text`;

function errorResponses(error: JsonObject): JsonObject {
  const ofKind = (content: JsonObject) =>
    mapValues(errors, ({ cause, remedy }) => ({ description: `${cause} ${remedy}`, content }));
  const texts = Object.entries(
    ofKind({
      'text/plain': { schema: { type: 'string', description: 'Says what is wrong and what to do' } },
    }),
  );
  return {
    ...ofKind({ 'application/json': { schema: error } }),
    ...Object.fromEntries(texts.map(([code, response]) => [textResponse(code), response])),
  };
}

/** Titles of shapes in replies. */
const replied = new Set(
  shapesIn(Object.values<Operation>(operations).map(({ reply }) => jsonSchemaOf(reply))).keys(),
);

function describeOperation(operation: Operation, publish: (schema: JsonSchema) => JsonObject): JsonObject {
  const description = descriptionOf(operation);
  return {
    operationId: operation.name,
    tags: [operation.family],
    summary: operation.summary,
    ...(description === '' ? {} : { description }),
    'x-right': rightsOf(operation).join(' | ') || operation.needs,
    ...(operation.needs === 'nothing' ? { security: [] } : {}),
    parameters: [
      ...parameters('path', pathSchemaOf(operation), publish),
      ...parameters('query', operation.query && jsonSchemaOf(operation.query, operation.name), publish),
      ...requestHeaders(operation),
    ],
    ...(operation.body
      ? {
          requestBody: {
            required: !operation.bodyOptional,
            content: {
              [bodyTypes[operation.bodyKind ?? 'json']]: {
                schema: publish(sentSchema(jsonSchemaOf(operation.body, operation.name), replied)),
              },
            },
          },
        }
      : {}),
    responses: {
      ...successOf(operation, publish),
      ...(hasTag(operation)
        ? { 304: { description: 'The reply is the one that `If-None-Match` names' } }
        : {}),
      ...Object.fromEntries(
        refusals(operation).map((code) => [
          errors[code].status,
          { $ref: `#/components/responses/${hasTextErrors(operation.path) ? textResponse(code) : code}` },
        ]),
      ),
    },
  };
}

/**
 * @param about `version` of the service that serves it
 * @returns the whole document, plain JSON
 */
export function openApiDocument({ version }: { version: string }): JsonObject {
  const components = new Map<string, JsonObject>();
  const publish = publisher(components);
  const paths: Record<string, JsonObject> = {};
  const all: readonly Operation[] = Object.values(operations);
  for (const operation of all) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: describeOperation(operation, publish),
    };
  }
  const error = publish({ ...jsonSchemaOf(ErrorBody), title: 'Error' });
  return {
    openapi: '3.1.0',
    info: {
      title: 'Envarium',
      version,
      description:
        'Manages infrastructure-as-code environments. Operations require the right in `x-right`; of several, the ' +
        'one for what the request names. Null in an optional field of a body means that the field is absent, and in a ' +
        'change that it is cleared (to `x-cleared`, where the field has it). An empty text in an optional field that ' +
        'cannot be empty means the same. A query parameter that an operation does not have is ignored, and the header ' +
        '`x-envarium-warning` of the reply names it.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: apiBase }],
    security: [{ basic: [] }],
    tags: [...new Set(all.map(({ family }) => family))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        basic: {
          type: 'http',
          scheme: 'basic',
          description: 'User name: the id of an API key. Password: its secret.',
        },
      },
      parameters: headerParameters,
      headers: warningHeaders,
      responses: errorResponses(error),
      schemas: Object.fromEntries([...components].sort(([one], [other]) => (one < other ? -1 : 1))),
    },
  };
}
