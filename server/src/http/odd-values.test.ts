import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Operation } from '#contract/operation.ts';
import { type OperationName, operations } from '#contract/operations.ts';
import { testApp } from '../testing/app.ts';
import { call, pathOf, send } from '../testing/client.ts';
import { createIdle } from '../testing/environment.ts';
import { makeSamples } from '../testing/samples.ts';

const app = await testApp();
const environment = await createIdle(app);
const { requestOf } = await makeSamples(app, environment);

interface JsonSchema {
  type?: string | string[];
  enum?: unknown[];
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
}

const oddText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom(
    '',
    ' ',
    '\ud800',
    'a\udc00b',
    '\u0000',
    '\u202e',
    'x'.repeat(3000),
    "'; drop table environment --",
    '${a}',
    '%',
    '\\',
    '../..',
    '__proto__',
    'ü€😀',
    '1e400',
    '-1',
    '2026-01-01T00:00:00Z',
  ),
);

/** Values that fit a schema more or less. */
function valueOf(schema: JsonSchema): fc.Arbitrary<unknown> {
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const types = [schema.type ?? 'object'].flat();
  const one = (type: string): fc.Arbitrary<unknown> => {
    if (type === 'string') return oddText;
    if (type === 'integer' || type === 'number') return fc.oneof(fc.integer(), fc.double());
    if (type === 'boolean') return fc.boolean();
    if (type === 'array') return fc.array(valueOf(schema.items ?? { type: 'string' }), { maxLength: 3 });
    if (type === 'null') return fc.constant(null);
    const fields = Object.entries(schema.properties ?? {}).map(
      ([name, field]) => [name, valueOf(field)] as const,
    );
    return fields.length > 0
      ? fc.record(Object.fromEntries(fields), { requiredKeys: [] })
      : fc.dictionary(oddText, oddText, { maxKeys: 2 });
  };
  return fc.oneof(...types.map(one));
}

/** One field of a good body, changed. */
function bodies(operation: Operation, good: object): fc.Arbitrary<object> {
  const fields = Object.entries((JSON.parse(JSON.stringify(operation.body)) as JsonSchema).properties ?? {});
  const changed = fields.map(([name, schema]) =>
    fc.oneof(valueOf(schema), fc.jsonValue()).map((value) => ({ ...good, [name]: value })),
  );
  return fc.oneof(...changed);
}

/** Operations with a JSON body; those that create come first, while nothing has been changed. */
const changing = Object.values<Operation>(operations)
  .filter(
    (operation): operation is Operation & { name: OperationName } =>
      operation.body !== undefined && operation.bodyKind !== 'binary',
  )
  .toSorted((one, other) => Number(other.name.startsWith('create')) - Number(one.name.startsWith('create')));
const intricate: readonly OperationName[] = ['createEnvironmentWithoutTemplate', 'deployEnvironment'];

for (const operation of changing) {
  const { name } = operation;
  const { params, body: good = {} } = requestOf(operation);
  test(`${name}: any value of a field is accepted or refused, and never causes an internal error`, async () => {
    await fc.assert(
      fc.asyncProperty(bodies(operation, good), async (body) => {
        const { statusCode } = await call(app, name, { ...(params ? { params } : {}), body });
        const ofSignIn = operation.needs === 'nothing' ? [401, 429] : [];
        assert.ok([200, 400, 403, 404, 409, 422, ...ofSignIn].includes(statusCode), String(statusCode));
      }),
      { numRuns: intricate.includes(name) ? 120 : 20 },
    );
  });
}

test('any query or path is accepted or refused, and never causes an internal error', async () => {
  const readers = (Object.values(operations) as Operation[]).filter(
    ({ method, needs, replyKind }) => method === 'GET' && needs !== 'nothing' && !replyKind,
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...readers), oddText, oddText, async (operation, inPath, inQuery) => {
      const { properties = {} } = JSON.parse(JSON.stringify(operation.query ?? {})) as JsonSchema;
      const names = Object.keys(properties);
      // An empty parameter would make the path of another operation.
      const odd = inPath.toWellFormed() || ' ';
      const { id } = environment;
      const deploymentLogId = environment.latestDeploymentLogId ?? id;
      const ids = { id, environmentId: id, organizationId: app.organizationId, deploymentLogId };
      const params = { ...ids, name: odd, agentKey: odd, userId: odd };
      const query =
        names.length > 0
          ? Object.fromEntries(names.map((name) => [name, inQuery.toWellFormed()]))
          : undefined;
      const { statusCode, body } = await send(app, {
        method: 'GET',
        url: pathOf(operation, { params, ...(query ? { query } : {}) }),
      });
      assert.ok([200, 400, 404].includes(statusCode), `${operation.name} ${statusCode} ${body}`);
    }),
    { numRuns: 150 },
  );
});
