import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { ErrorBody } from '#contract/schema/errors.ts';
import { testApp } from '../../../testing/app.ts';
import { startTests } from '../../../testing/start.ts';
import { makeWebFolder, scriptFile, scriptText } from '../../../testing/web-folder.ts';

const { app, send } = await startTests({ ENVARIUM_WEB_DIR: makeWebFolder() });

/** Headers that Chromium sends when a person opens an address. */
const asPerson = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8' };

const open = (url: string, headers: Record<string, string> = asPerson, method: 'GET' | 'HEAD' = 'GET') =>
  app.app.inject({ method, url, headers });

test('every address of a page gets the one document, with credentials and without', async () => {
  for (const url of [
    '/',
    '/?x=1',
    '/environments',
    '/environments/0199-1/deployments?type=deploy',
    '/apikeys',
    '/%E2%82%AC/a%2Fb',
    '/old.php',
    '/index.html',
  ]) {
    const response = await open(url);
    assert.equal(response.statusCode, 200, url);
    assert.equal(response.headers['content-type'], 'text/html; charset=utf-8');
    assert.match(response.body, /<base href="\/">/);
    const head = await open(url, asPerson, 'HEAD');
    assert.deepEqual([head.statusCode, head.body], [200, '']);
  }
  assert.equal((await send({ url: '/environments', headers: asPerson })).statusCode, 200);
});

test('paths of programs are answered as before, whatever the caller accepts', async () => {
  for (const [url, status] of [
    ['/api/nothing', 401],
    ['/api', 401],
    ['/%61pi/nothing', 401],
    ['/scim/v2/nothing', 404],
    ['/state/v1/nothing', 401],
    ['/healthz', 200],
    ['/healthz/nothing', 401],
    ['/.well-known/nothing', 401],
    ['/api/openapi.json', 200],
  ] as const) {
    const { statusCode, headers } = await open(url);
    assert.equal(statusCode, status, url);
    assert.match(String(headers['content-type']), /json/, url);
  }
});

test('only browsers that ask for a page get one', async () => {
  for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }] as Record<string, string>[])
    assert.equal((await open('/environments', headers)).statusCode, 401);
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'] as const) {
    assert.equal((await app.app.inject({ method, url: '/environments', headers: asPerson })).statusCode, 401);
    assert.equal((await send({ method, url: '/environments', headers: asPerson })).statusCode, 404);
  }
  assert.equal((await open('/', { accept: '*/*' })).statusCode, 200);
});

test('a policy forbids everything that is not of the service, and each reply has a nonce of its own', async () => {
  const [one, other] = [await open('/'), await open('/')];
  const policyOf = ({ headers }: typeof one) => String(headers['content-security-policy']);
  const directives = new Map(
    policyOf(one)
      .split('; ')
      .map((part) => [part.split(' ')[0], part.split(' ').slice(1).join(' ')]),
  );
  assert.equal(directives.get('default-src'), "'none'");
  assert.equal(directives.get('script-src'), "'self'");
  assert.equal(directives.get('frame-ancestors'), "'none'");
  assert.doesNotMatch(policyOf(one), /unsafe|\*|https?:/);
  const nonce = /<meta name="csp-nonce" content="([\w+/=]{24})">/.exec(one.body)?.[1] ?? '';
  assert.equal(directives.get('style-src'), `'self' 'nonce-${nonce}'`);
  assert.notEqual(policyOf(one), policyOf(other));
  assert.ok(!other.body.includes(nonce));
  assert.equal(one.headers['x-content-type-options'], 'nosniff');
  assert.equal(one.headers['referrer-policy'], 'same-origin');
  assert.equal(one.headers['cross-origin-opener-policy'], 'same-origin');
  assert.deepEqual([one.headers['cache-control'], one.headers.etag], ['no-cache', undefined]);
});

test('files with a hash in their names are compressed as the browser likes it, and kept for a year', async () => {
  const plain = await open(`/${scriptFile}`, {});
  assert.deepEqual(
    [plain.statusCode, plain.body, plain.headers['content-encoding']],
    [200, scriptText, undefined],
  );
  assert.match(String(plain.headers['content-type']), /^(application|text)\/javascript; charset=utf-8$/);
  const lengths = new Set([plain.rawPayload.length]);
  for (const [accepted, coding, unpack] of [
    ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
    ['br;q=0.1, gzip;q=0.9', 'gzip', gunzipSync],
  ] as const) {
    const response = await open(`/${scriptFile}`, { 'accept-encoding': accepted });
    assert.equal(response.headers['content-encoding'], coding, accepted);
    assert.equal(unpack(response.rawPayload).toString('utf8'), scriptText);
    assert.equal(response.headers['content-type'], plain.headers['content-type']);
    assert.equal(response.headers['cache-control'], 'public, max-age=31536000, immutable');
    assert.equal(response.headers.vary, 'accept-encoding');
    assert.notEqual(response.headers.etag, plain.headers.etag);
    lengths.add(response.rawPayload.length);
  }
  assert.equal(lengths.size, 3);
  for (const accepted of ['zstd', 'identity', 'br;q=0'])
    assert.equal(
      (await open(`/${scriptFile}`, { 'accept-encoding': accepted })).headers['content-encoding'],
      undefined,
    );
  const font = await open('/assets/mono-AbCd1234.woff2', { 'accept-encoding': 'br' });
  assert.deepEqual(
    [font.headers['content-type'], font.headers['content-encoding']],
    ['font/woff2', undefined],
  );
});

test('other files are validated after an hour, and sent only when they have changed', async () => {
  const icon = await open('/icon.svg', {});
  assert.deepEqual(
    [icon.statusCode, icon.headers['content-type'], icon.headers['cache-control']],
    [200, 'image/svg+xml', 'public, max-age=3600'],
  );
  const again = await open('/icon.svg', { 'if-none-match': String(icon.headers.etag) });
  assert.deepEqual([again.statusCode, again.body], [304, '']);
  const head = await open('/icon.svg', {}, 'HEAD');
  assert.deepEqual(
    [head.statusCode, head.body, head.headers['content-length']],
    [200, '', String(icon.body.length)],
  );
  assert.equal(
    (await open('/manifest.webmanifest', {})).headers['content-type'],
    'application/manifest+json',
  );
});

test('a file that does not exist is a 404 in the common form, also for a browser that asks for a page', async () => {
  for (const url of [
    '/assets/gone-AbCd1234.js',
    '/assets/',
    '/assets/..%2f..%2fetc%2fpasswd',
    '/assets/%00',
    '/assets/%ZZ',
    `/assets/${'a'.repeat(3000)}`,
  ]) {
    const response = await open(url);
    assert.ok([400, 401, 404, 414].includes(response.statusCode), `${url}: ${response.statusCode}`);
    assert.match(String(response.headers['content-type']), /^application\/json/);
  }
  assert.match(
    (await open('/assets/gone.js')).json<ErrorBody>().message,
    /^There is no GET \/assets\/gone\.js;/,
  );
  for (const url of ['/icon.svg', `/${scriptFile}`])
    assert.equal((await send({ method: 'POST', url })).statusCode, 405, url);
});

test('the files of the web interface do not lend their methods to paths that do not exist', async () => {
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const)
    for (const url of [
      '/api/nothing',
      '/api/cloud/nothing/x',
      '/scim/v2/nothing',
      '/state/nothing',
      '/.well-known/nothing',
      '/mcp/nothing',
      '/healthz/nothing',
      '/reference/nothing',
      '/assets/gone.js',
      '/assets/',
      `/${scriptFile}/nothing`,
      `/assets%2F${scriptFile.slice('assets/'.length)}`,
    ]) {
      const { statusCode, headers } = await send({ method, url });
      assert.deepEqual([statusCode, headers.allow], [404, undefined], `${method} ${url}`);
    }
});

test('files that were removed while the service runs are a 404', async () => {
  const folder = makeWebFolder();
  const running = await testApp({ ENVARIUM_WEB_DIR: folder });
  rmSync(join(folder, scriptFile));
  assert.equal((await running.app.inject(`/${scriptFile}`)).statusCode, 404);
});

test('without a web interface, the page says why and leads to the reference', async () => {
  const old = makeWebFolder();
  writeFileSync(join(old, 'index.html'), '<!doctype html><title>old</title>');
  for (const [settings, reason] of [
    [{}, /started without its launcher/],
    [{ ENVARIUM_WEB_DIR: '/nonexistent' }, /ENVARIUM_WEB_DIR cannot be read: ENOENT/],
    [{ ENVARIUM_WEB_DIR: old }, /another version/],
    [
      { ENVARIUM_WEB_PROBLEM: 'could not be built: <b>"x"</b>' },
      /could not be built: &lt;b&gt;&quot;x&quot;/,
    ],
  ] as [Record<string, string>, RegExp][]) {
    const without = await testApp(settings);
    const response = await without.app.inject({ url: '/environments', headers: asPerson });
    assert.equal(response.statusCode, 503);
    assert.match(response.body, reason);
    assert.match(response.body, /href="\/reference"/);
    assert.equal((await without.app.inject('/reference')).statusCode, 200);
    assert.equal((await without.app.inject('/healthz')).statusCode, 200);
  }
});
