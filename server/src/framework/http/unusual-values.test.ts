import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type OperationName, operations } from '#contract/operations.ts';
import { errors } from '#contract/schema/errors.ts';
import type { Operation } from '#contract/schema/operation.ts';
import { pathOf } from '../../../testing/client.ts';
import { type JsonSchema, unusualText, valueOf } from '../../../testing/fuzzing/unusual-values.ts';
import { makeSamples } from '../../../testing/samples.ts';
import { startTests } from '../../../testing/start.ts';

const { app, send, call, createIdle } = await startTests();
const environment = await createIdle();
const { requestOf } = await makeSamples(app, environment);

/** One field of a good body, or of its element, changed; or another text, where the body is one. */
function bodies(operation: Operation, good: unknown): fc.Arbitrary<unknown> {
  return changedValues(JSON.parse(JSON.stringify(operation.body)) as JsonSchema, good);
}

function changedValues(schema: JsonSchema, good: unknown): fc.Arbitrary<unknown> {
  if (typeof good === 'string') return unusualText;
  if (Array.isArray(good)) return changedValues(schema.items ?? {}, good[0]).map((element) => [element]);
  const fields = Object.entries(schema.properties ?? {});
  if (fields.length === 0) {
    const keys = fc.oneof(unusualText, fc.constantFrom(...Object.keys(good as object)));
    return fc.dictionary(keys, fc.oneof(unusualText, fc.jsonValue()), { maxKeys: 3 });
  }
  const changed = fields.map(([name, schema]) =>
    fc.oneof(valueOf(schema), fc.jsonValue()).map((value) => ({ ...(good as object), [name]: value })),
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
        const { statusCode } = await call(name, { ...(params ? { params } : {}), body });
        const listed = (operation.refusesWith ?? []).map((code) => errors[code].status);
        const others = operation.needs === 'nothing' ? [...listed, 429] : listed;
        assert.ok([200, 400, 403, 404, 409, 422, ...others].includes(statusCode), String(statusCode));
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
    fc.asyncProperty(
      fc.constantFrom(...readers),
      unusualText,
      unusualText,
      async (operation, inPath, inQuery) => {
        const { properties = {} } = JSON.parse(JSON.stringify(operation.query ?? {})) as JsonSchema;
        const names = Object.keys(properties);
        // An empty parameter would make the path of another operation.
        const unusual = inPath.toWellFormed() || ' ';
        const { id } = environment;
        const deploymentLogId = environment.latestDeploymentLogId ?? id;
        const { organizationId, projectId } = app;
        const ids = { id, environmentId: id, organizationId, projectId, deploymentLogId };
        const params = {
          ...ids,
          name: unusual,
          agentKey: unusual,
          userId: unusual,
          scope: unusual,
          scopeId: id,
          vcsType: unusual,
        };
        const query =
          names.length > 0
            ? Object.fromEntries(names.map((name) => [name, inQuery.toWellFormed()]))
            : undefined;
        const { statusCode, body } = await send({
          method: 'GET',
          url: pathOf(operation, { params, ...(query ? { query } : {}) }),
        });
        assert.ok([200, 400, 404, 414].includes(statusCode), `${operation.name} ${statusCode} ${body}`);
      },
    ),
    { numRuns: 150 },
  );
});
