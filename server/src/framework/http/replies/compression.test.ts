import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  brotliCompressSync,
  brotliDecompressSync,
  gunzipSync,
  gzipSync,
  zstdDecompressSync,
} from 'node:zlib';
import type { ErrorBody } from '#contract/schema/errors.ts';
import { startTests } from '../../../../testing/start.ts';

const { app, send, call, ok, createBody, createIdle } = await startTests();
for (let index = 0; index < 20; index++) await createIdle({ name: `network ${index}` });

test('replies are compressed as the caller accepts it, and smaller than a fifth', async () => {
  const plain = await call('listEnvironments');
  assert.equal(plain.headers['content-encoding'], undefined);
  const unpack = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync };
  for (const [encoding, unpacked] of Object.entries(unpack)) {
    const response = await send({ url: '/api/environments', headers: { 'accept-encoding': encoding } });
    assert.deepEqual([response.headers['content-encoding'], response.statusCode], [encoding, 200]);
    assert.match(String(response.headers.vary), /accept-encoding/i);
    assert.equal(unpacked(response.rawPayload).toString('utf8'), plain.body);
    assert.ok(
      response.rawPayload.length < plain.body.length / 5,
      `${encoding}: ${response.rawPayload.length}`,
    );
  }
});

test('short replies and event streams are not compressed', async () => {
  const headers = { 'accept-encoding': 'gzip' };
  const short = await send({ url: '/api/projects', headers });
  assert.equal(short.headers['content-encoding'], undefined);
  const stream = await send({
    method: 'HEAD',
    url: `/api/organizations/${app.organizationId}/events`,
    headers,
  });
  assert.deepEqual([stream.statusCode, stream.headers['content-encoding']], [200, undefined]);
});

test('a compressed body is read, whatever its content type', async () => {
  const text = JSON.stringify(createBody({ name: 'packed', preventAutoDeploy: true }));
  for (const [encoding, payload] of [
    ['gzip', gzipSync(text)],
    ['br', brotliCompressSync(text)],
    ['identity', Buffer.from(text)],
  ] as const) {
    const response = await send({
      method: 'POST',
      url: '/api/environments/without-template',
      headers: { 'content-encoding': encoding, 'content-type': 'application/json' },
      payload,
    });
    assert.equal(response.statusCode, 200, response.body);
    assert.equal(response.json<{ name: string }>().name, 'packed');
  }
});

test('a compressed body counts with its decompressed size', async () => {
  const before = (await ok('listProjects')).length;
  const response = await send({
    method: 'POST',
    url: '/api/projects',
    headers: { 'content-encoding': 'gzip' },
    payload: gzipSync(Buffer.alloc(64 * 1024 * 1024, ' ')),
  });
  assert.deepEqual([response.statusCode, response.json<ErrorBody>().code], [413, 'payload_too_large']);
  assert.equal((await ok('listProjects')).length, before);
});

test('a body that is not what its Content-Encoding declares, or declares an unknown one, is refused', async () => {
  const post = (encoding: string, payload: string | Buffer) =>
    send({ method: 'POST', url: '/api/projects', headers: { 'content-encoding': encoding }, payload });
  const broken = await post('gzip', '{"name": "x"}');
  assert.equal(broken.statusCode, 400);
  assert.match(broken.json<ErrorBody>().message, /^\/body is not valid gzip: /);
  const cut = await post('gzip', gzipSync('{"name": "x"}').subarray(0, 15));
  assert.equal(cut.statusCode, 400);
  const unknown = await post('compress', '{}');
  assert.deepEqual([unknown.statusCode, unknown.json<ErrorBody>().code], [415, 'unsupported_media_type']);
  assert.match(unknown.json<ErrorBody>().message, /Content-Encoding has "compress": use one of gzip, /);
});
