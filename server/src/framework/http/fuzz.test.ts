/** The short form of `fuzz.slow.test.ts`, which needs no other program. */
import { test } from 'node:test';
import fc from 'fast-check';
import { operations } from '#contract/operations.ts';
import type { Operation } from '#contract/schema/operation.ts';
import { pathOf } from '../../../testing/client.ts';
import { checkAnswer } from '../../../testing/fuzzing/check-answer.ts';
import { type JsonSchema, unusualText, valueOf } from '../../../testing/fuzzing/unusual-values.ts';
import { makeSamples } from '../../../testing/samples.ts';
import { startTests } from '../../../testing/start.ts';

const { app, projectId, send, keyFor, createIdle } = await startTests();
const { requestOf } = await makeSamples(app, await createIdle());
const inProject = (role: string) => keyFor(role, { projectId });

const callers = {
  anonymous: null,
  'a user without any role': await app.addKey(),
  'a viewer': await inProject('Viewer'),
  'a deployer': await inProject('Deployer'),
  'an admin': app.admin,
};

/** Operations that remove entities come last. */
const all = (Object.values(operations) as Operation[])
  .filter(({ replyKind }) => replyKind !== 'event-stream')
  .toSorted((one, other) => Number(one.method === 'DELETE') - Number(other.method === 'DELETE'));

const schemaOf = (schema: unknown) => JSON.parse(JSON.stringify(schema ?? {})) as JsonSchema;

/** Parameters of a path or query: those of the sample, or unusual ones. */
function texts(schema: unknown, known: Readonly<Record<string, string>> = {}) {
  const fields = Object.keys(schemaOf(schema).properties ?? {}).map((name) => {
    // An empty parameter would make the path of another operation.
    const unusual = unusualText.map((text) => text.toWellFormed() || ' ');
    const own = known[name];
    return [name, own ? fc.oneof({ weight: 4, arbitrary: fc.constant(own) }, unusual) : unusual] as const;
  });
  return fc.record(Object.fromEntries(fields));
}

function requestsOf(operation: Operation) {
  const known = requestOf(operation);
  const good = known.body ?? {};
  const unusual = fc.oneof(
    valueOf(schemaOf(operation.body)).map((value) =>
      typeof value === 'object' && value !== null ? { ...good, ...value } : value,
    ),
    fc.constant(good),
    fc.jsonValue(),
  );
  return fc.record({
    params: texts(operation.params, known.params),
    query: fc.option(texts(operation.query, known.query), { nil: known.query ?? {} }),
    body: operation.body ? unusual : fc.constant(undefined),
    headers: fc.oneof(
      fc.constant({}),
      fc.constantFrom(
        { 'if-match': '"x"' },
        { 'if-match': '*' },
        { 'if-match': 'x' },
        { 'if-none-match': '*' },
        { 'idempotency-key': 'x' },
        { accept: 'text/html' },
        { 'content-type': 'text/xml' },
      ),
    ),
  });
}

for (const [who, as] of Object.entries(callers))
  test(`whatever ${who} sends is answered as the OpenAPI document says`, async () => {
    for (const operation of all)
      await fc.assert(
        fc.asyncProperty(requestsOf(operation), async ({ params, query, body, headers }) => {
          const url = pathOf(operation, { params, query });
          const isFile = operation.bodyKind === 'binary';
          const payload = body === undefined ? undefined : JSON.stringify(body);
          const type = isFile ? 'application/octet-stream' : 'application/json';
          const answer = await send(
            {
              method: operation.method,
              url,
              headers: { ...(payload === undefined ? {} : { 'content-type': type }), ...headers },
              ...(payload === undefined ? {} : { payload }),
            },
            as,
          );
          checkAnswer(operation, answer, `${url} ${JSON.stringify(headers)} ${payload}`);
        }),
        { numRuns: 4 },
      );
  });
