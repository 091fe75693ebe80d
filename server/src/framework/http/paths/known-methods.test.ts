import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { HTTPMethods } from 'fastify';
import { operations } from '#contract/operations.ts';
import type { Operation } from '#contract/schema/operation.ts';
import { pathOf, refusalIn } from '../../../../testing/client.ts';
import { startTests } from '../../../../testing/start.ts';

const { app, send } = await startTests();
const all = Object.values(operations) as Operation[];
const paths = [...new Set(all.map(({ path }) => path))];
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const satisfies HTTPMethods[];

/** An address of a path, with ids that nothing has. */
function addressOf(path: string): string {
  const params = Object.fromEntries(
    [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => [name, randomUUID()]),
  );
  return pathOf(all.find((each) => each.path === path) as Operation, { params });
}

function allowedAt(path: string): string[] {
  const declared = all.filter((each) => each.path === path).map(({ method }): string => method);
  return [...declared, ...(declared.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].sort();
}

const allowOf = ({ headers }: { headers: Record<string, unknown> }) =>
  String(headers['allow']).split(', ').sort();

test('every path of the contract answers 405 with its methods to any other method', async () => {
  for (const path of paths) {
    const url = addressOf(path);
    for (const method of methods.filter((each) => !allowedAt(path).includes(each))) {
      const response = await send({ method, url });
      assert.equal(response.statusCode, 405, `${method} ${url}: ${response.body}`);
      assert.deepEqual(allowOf(response), allowedAt(path));
      const { code, message } = refusalIn(response);
      assert.equal(code, 'method_not_allowed');
      assert.ok(message.startsWith(`${url} does not take ${method}: use one of `), message);
    }
  }
});

test('OPTIONS answers the methods of a path, and HEAD what GET answers without its body', async () => {
  for (const path of paths) {
    const response = await send({ method: 'OPTIONS', url: addressOf(path) });
    assert.deepEqual([response.statusCode, response.body], [204, ''], path);
    assert.deepEqual(allowOf(response), allowedAt(path));
  }
  const read = { url: `/api/projects/${app.projectId}` };
  const [head, full] = [await send({ ...read, method: 'HEAD' }), await send(read)];
  assert.deepEqual(
    [head.statusCode, head.body, head.headers.etag, head.headers['content-length']],
    [200, '', full.headers.etag, String(Buffer.byteLength(full.body))],
  );
  assert.equal((await send({ method: 'HEAD', url: '/api/projects/none' })).statusCode, 404);
});

test('the spelling of a path does not matter', async () => {
  for (const url of ['/api/projects/', '/%61pi/projects', '/api/projects?x=1', '/api/projects/?'])
    assert.deepEqual([url, (await send({ method: 'PATCH', url })).statusCode], [url, 405]);
});

test('a word that belongs to another path does not count as an id', async () => {
  for (const [method, url, allowed] of [
    ['DELETE', '/api/environments/tags', ['GET', 'HEAD', 'OPTIONS']],
    ['GET', '/api/environments/without-template', ['OPTIONS', 'POST']],
  ] as const) {
    const response = await send({ method, url });
    assert.equal(response.statusCode, 405, url);
    assert.deepEqual(allowOf(response), allowed);
  }
});

test('a path that does not exist is a 404 for every method', async () => {
  for (const method of [...methods, 'OPTIONS', 'HEAD', 'TRACE'] as HTTPMethods[])
    for (const url of [
      '/api/nothing',
      '/api',
      '/api/',
      '/api/environments/x/nothing',
      '/api//projects',
      '/api/cloud/configurations?x',
    ]) {
      const response = await send({ method, url });
      assert.equal(response.statusCode, 404, `${method} ${url}`);
      assert.equal(response.headers['content-type'], 'application/json; charset=utf-8');
    }
});

test('routes outside of the contract have their methods, too', async () => {
  const response = await send({ method: 'POST', url: '/healthz' });
  assert.deepEqual([response.statusCode, allowOf(response)], [405, ['GET', 'HEAD', 'OPTIONS']]);
});

test('without credentials, the methods of a path are not disclosed', async () => {
  for (const method of ['OPTIONS', 'PATCH'] as const) {
    const response = await send({ method, url: '/api/projects' }, null);
    assert.deepEqual([response.statusCode, response.headers.allow], [401, undefined]);
  }
});
