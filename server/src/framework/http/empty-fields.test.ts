import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TSchema } from 'typebox';
import { type JsonSchema, jsonSchemaOf, typesOf } from '#contract/documents/describe-schema.ts';
import { type OperationName, operations } from '#contract/operations.ts';
import type { Operation } from '#contract/schema/operation.ts';
import { without } from '#contract/schema/without-nulls.ts';
import { refusalIn } from '../../../testing/client.ts';
import { leastValue, makeSamples } from '../../../testing/samples.ts';
import { startTests } from '../../../testing/start.ts';

const { app, call, createIdle } = await startTests();
const { requestOf } = await makeSamples(app, await createIdle());

type Named = Operation & { name: OperationName };

interface EmptyField {
  readonly path: string;
  readonly body: unknown;
  readonly absent: unknown;
}

/**
 * A good value with one optional field that has no value, for each such field at any depth, next to the same value
 * without the field.
 */
function* emptyFields(schema: JsonSchema, good: unknown, path = ''): Generator<EmptyField> {
  if (Array.isArray(good) || (typesOf(schema).includes('array') && good === undefined)) {
    const [first, ...rest] = (good ?? []) as unknown[];
    const around = (element: unknown) => [element, ...rest];
    for (const each of emptyFields(schema.items ?? {}, first, path)) yield inside(each, around);
    return;
  }
  if (!schema.properties) return;
  const whole = (good ?? leastValue(schema)) as Readonly<Record<string, unknown>>;
  for (const [name, field] of Object.entries(schema.properties)) {
    const at = path === '' ? name : `${path}.${name}`;
    const empty = typesOf(field).includes('string') ? [null, ''] : [null];
    if (!schema.required?.includes(name))
      for (const value of empty)
        yield {
          path: `${at}: ${JSON.stringify(value)}`,
          body: { ...whole, [name]: value },
          absent: without(whole, [name]),
        };
    const around = (value: unknown) => ({ ...whole, [name]: value });
    for (const each of emptyFields(field, whole[name], at)) yield inside(each, around);
  }
}

function inside({ path, body, absent }: EmptyField, around: (value: unknown) => unknown): EmptyField {
  return { path, body: around(body), absent: around(absent) };
}

const withBodies = (Object.values(operations) as Named[]).filter(
  ({ body, bodyKind }) => body !== undefined && bodyKind !== 'binary',
);

for (const operation of withBodies) {
  const { name } = operation;
  test(`${name}: null and an empty text in an optional field are not an error`, async () => {
    const request = requestOf(operation);
    const wrong: string[] = [];
    const refusalOf = async (body: unknown) => {
      const answer = await call(name, { ...request, body });
      return answer.statusCode === 400 ? refusalIn(answer).message : null;
    };
    const schema = jsonSchemaOf(operation.body as TSchema);
    for (const { path, body, absent } of emptyFields(schema, request.body)) {
      const refusal = await refusalOf(body);
      if (refusal !== null && refusal !== (await refusalOf(absent))) wrong.push(`${path} ${refusal}`);
    }
    assert.deepEqual(wrong, []);
  });
}
