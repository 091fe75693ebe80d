import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openApiDocument } from '#contract/documents/openapi.ts';
import { operations } from '#contract/operations.ts';
import type { Operation } from '#contract/schema/operation.ts';
import { warningHeader } from '#contract/schema/warning-header.ts';
import { basic, pathOf } from '../../../testing/client.ts';
import { makeSamples } from '../../../testing/samples.ts';
import { startTests } from '../../../testing/start.ts';

const { app, send, call, createIdle, deploy } = await startTests();
const idle = await createIdle();
const { id: deploymentId } = await deploy(idle.id);
const { requestOf } = await makeSamples(app, { ...idle, latestDeploymentLogId: deploymentId });
const url = await app.listen();

/** Operations that remove entities come last. */
const all = (Object.values(operations) as Operation[]).toSorted(
  (one, other) => Number(one.method === 'DELETE') - Number(other.method === 'DELETE'),
);
const isStream = ({ replyKind }: Operation) => replyKind === 'event-stream';
const sentence = '"nonsense" is not a query parameter of this operation and was ignored.';

test('event streams have the headers of all other replies, and name unknown query parameters', async () => {
  const streams = all.filter(isStream);
  assert.ok(streams.length > 1);
  for (const operation of streams) {
    const named = requestOf(operation).params ?? {};
    const params = { id: app.organizationId, ...(operation.subject ? named : {}) };
    const leaving = new AbortController();
    const { status, headers } = await fetch(
      `${url}${pathOf(operation, { params, query: { nonsense: 'x' } })}`,
      { headers: { authorization: basic(app.admin) }, signal: leaving.signal },
    );
    assert.equal(status, 200, operation.name);
    assert.equal(headers.get(warningHeader), sentence);
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.match(headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/);
    assert.match(headers.get('content-type') ?? '', /^text\/event-stream/);
    leaving.abort();
  }
});

test('every operation answers an unknown query parameter as if it were absent, and names it in a header', async () => {
  for (const operation of all.filter((each) => !isStream(each))) {
    const { params, query, body } = requestOf(operation);
    const { statusCode, headers } = await send({
      method: operation.method,
      url: pathOf(operation, { ...(params ? { params } : {}), query: { ...query, nonsense: 'x' } }),
      ...(body === undefined
        ? {}
        : { payload: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    assert.ok(statusCode < 500, operation.name);
    const sentences = String(headers[warningHeader]).split(' | ');
    assert.ok(sentences.includes(sentence), `${operation.name} ${statusCode}: ${headers[warningHeader]}`);
  }
});

test('a warning names all unknown parameters, to a limit, in what a header can have', async () => {
  const warningOf = async (query: Record<string, string>) =>
    (await call('listProjects', { query })).headers[warningHeader];
  assert.equal(
    await warningOf({ one: '1', 'a|ü': '2' }),
    '"one", "a/?" are not query parameters of this operation and were ignored.',
  );
  const many = Object.fromEntries(
    Array.from({ length: 30 }, (_, index) => [`n${index}`.padEnd(200, 'x'), '']),
  );
  const text = String(await warningOf(many));
  assert.match(text, /^"n0x{78}", .* and 10 more are not query parameters/);
  assert.ok(text.length < 2000);
  assert.equal(await warningOf({ organizationId: app.organizationId }), undefined);
});

test('the description of the API lists the header for every operation', () => {
  const { paths, components, info } = openApiDocument({ version: '1' }) as {
    info: { description: string };
    paths: Record<
      string,
      Record<string, { responses: Record<string, { headers?: Record<string, { $ref: string }> }> }>
    >;
    components: { headers: Record<string, { description: string }> };
  };
  assert.match(info.description, /query parameter .* is ignored.*`x-envarium-warning`/);
  for (const { path, method } of all) {
    const { responses } = paths[path]?.[method.toLowerCase()] ?? { responses: {} };
    const { $ref = '' } = (responses['200'] ?? responses['302'])?.headers?.[warningHeader] ?? {};
    assert.match(
      components.headers[$ref.split('/').at(-1) ?? '']?.description ?? '',
      /query parameters/,
      path,
    );
  }
});
