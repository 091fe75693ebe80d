import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTests } from '../../../../testing/start.ts';
import { requireMatch, versionHeld } from './entity-tag.ts';

const { send, ok, createIdle } = await startTests();
const { id } = await createIdle();

test('a caller that has the current version of a resource or list receives 304 and no body', async () => {
  for (const url of ['/api/environments', `/api/environments/${id}`, '/api/projects']) {
    const full = await send({ url });
    const { etag } = full.headers;
    assert.match(String(etag), /^"[\w-]{27}"$/, url);
    const again = await send({ url, headers: { 'if-none-match': String(etag) } });
    assert.deepEqual([again.statusCode, again.body, again.headers.etag], [304, '', etag]);
    assert.equal(again.headers['x-total-count'], full.headers['x-total-count']);
    // Compressed, it has other bytes and therefore another tag, which means the same version.
    const headers = { 'accept-encoding': 'gzip' };
    const packed = await send({ url, headers });
    const coded = packed.headers['content-encoding'] ? `${String(etag).slice(0, -1)}-gzip"` : etag;
    assert.equal(packed.headers.etag, coded);
    const same = await send({ url, headers: { ...headers, 'if-none-match': String(coded) } });
    assert.deepEqual([same.statusCode, same.headers.etag], [304, coded]);
  }
});

test('a change makes a new version', async () => {
  const url = `/api/environments/${id}`;
  const etag = String((await send({ url })).headers.etag);
  await ok('updateEnvironment', { id, body: { name: 'renamed' } });
  for (const each of [url, '/api/environments']) {
    const response = await send({ url: each, headers: { 'if-none-match': etag } });
    assert.equal(response.statusCode, 200);
    assert.match(response.body, /"renamed"/);
  }
});

test('only reads have versions: changes and errors are always answered in full', async () => {
  const headers = { 'if-none-match': '*' };
  assert.equal((await send({ url: `/api/environments/${id}`, headers })).statusCode, 304);
  const changed = await send({
    method: 'PUT',
    url: `/api/environments/${id}`,
    headers: { ...headers, 'content-type': 'application/json' },
    payload: JSON.stringify({ name: 'changed' }),
  });
  assert.deepEqual([changed.statusCode, changed.headers.etag], [200, undefined]);
  const missing = await send({ url: '/api/environments/unknown', headers });
  assert.deepEqual([missing.statusCode, missing.headers.etag], [404, undefined]);
});

const tag = `"${'a'.repeat(27)}"`;
const gzipped = `"${'a'.repeat(27)}-gzip"`;
const other = '"other"';

test('If-None-Match holds for any tag of a list, weak and strong alike', () => {
  assert.equal(versionHeld(`${other}, W/${tag}`, tag), `W/${tag}`);
  assert.equal(versionHeld(`"a,b" ,,${gzipped}`, tag), gzipped);
  assert.equal(versionHeld(' * ', tag), tag);
  for (const header of [other, '', 'a', tag.slice(0, -1), `${tag} ${tag}`, undefined])
    assert.equal(versionHeld(header, tag), null, header);
});

test('If-Match holds for a strong tag of a list, and for *', () => {
  for (const header of [tag, `${other}, ${tag}`, ` ${tag} , ${other}`, gzipped, '*', `"a,b",${tag}`])
    requireMatch(header, tag);
  for (const header of [other, `W/${tag}`, `${other}, W/${tag}`, '""', `"${'a'.repeat(27)}-zip"`])
    assert.throws(() => requireMatch(header, tag), { code: 'precondition_failed' }, header);
  assert.throws(() => requireMatch(`W/${tag}`, tag), { message: /weak tags/ });
  for (const header of ['', 'a', tag.slice(1), `${tag}, a`, `w/${tag}`, '"a b"', '*, "a"', `${tag} ${tag}`])
    assert.throws(() => requireMatch(header, tag), { code: 'bad_request' }, header);
});
