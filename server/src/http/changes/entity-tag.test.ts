import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testApp } from '../../testing/app.ts';
import { ok, send } from '../../testing/client.ts';
import { createIdle } from '../../testing/environment.ts';
import { hasVersion } from './entity-tag.ts';

const app = await testApp();
const { id } = await createIdle(app);

test('a caller that has the current version of a resource or list receives 304 and no body', async () => {
  for (const url of ['/api/environments', `/api/environments/${id}`, '/api/projects']) {
    const full = await send(app, { url });
    const { etag } = full.headers;
    assert.match(String(etag), /^W\/"[\w-]+"$/, url);
    const again = await send(app, { url, headers: { 'if-none-match': String(etag) } });
    assert.deepEqual([again.statusCode, again.body, again.headers.etag], [304, '', etag]);
    assert.equal(again.headers['x-total-count'], full.headers['x-total-count']);
    const packed = await send(app, { url, headers: { 'accept-encoding': 'gzip' } });
    assert.equal(packed.headers.etag, etag);
  }
});

test('a change makes a new version', async () => {
  const url = `/api/environments/${id}`;
  const etag = String((await send(app, { url })).headers.etag);
  await ok(app, 'updateEnvironment', { params: { id }, body: { name: 'renamed' } });
  for (const each of [url, '/api/environments']) {
    const response = await send(app, { url: each, headers: { 'if-none-match': etag } });
    assert.equal(response.statusCode, 200);
    assert.match(response.body, /"renamed"/);
  }
});

test('only reads have versions: changes and errors are always answered in full', async () => {
  const headers = { 'if-none-match': '*' };
  assert.equal((await send(app, { url: `/api/environments/${id}`, headers })).statusCode, 304);
  const changed = await send(app, {
    method: 'PUT',
    url: `/api/environments/${id}`,
    headers: { ...headers, 'content-type': 'application/json' },
    payload: JSON.stringify({ name: 'changed' }),
  });
  assert.deepEqual([changed.statusCode, changed.headers.etag], [200, undefined]);
  const missing = await send(app, { url: '/api/environments/unknown', headers });
  assert.deepEqual([missing.statusCode, missing.headers.etag], [404, undefined]);
});

test('tags are compared one by one, weak and strong alike', () => {
  assert.ok(hasVersion('"a", W/"b"', 'W/"b"'));
  assert.ok(hasVersion('"b"', 'W/"b"'));
  assert.ok(!hasVersion('"a"', 'W/"b"'));
  assert.ok(!hasVersion('', 'W/"b"'));
  assert.ok(!hasVersion(undefined, 'W/"b"'));
});
