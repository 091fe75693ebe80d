import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, setGlobalProxyFromEnv } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { readCertificates, trustedCertificates, useNetwork } from '#settings/network.ts';
import { temporaryFolder } from '../../../tools/suite/temporary-folder.ts';
import { until } from '../../../tools/suite/until.ts';
import { makeAuthority, withoutOpenssl } from '../../testing/certificates.ts';
import { startForwardProxy } from '../../testing/forward-proxy.ts';
import { type FetchLimits, FetchProblem, fetchBytes, fetchFile } from './fetch-bounded.ts';

const withOpenssl = { skip: withoutOpenssl };
const limits: FetchLimits = { silenceSeconds: 10, wholeSeconds: 20, bytes: 1_000_000 };
const { signal } = new AbortController();

interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
}

async function serve(
  t: TestContext,
  answer: RequestListener,
): Promise<{ url: string; requests: ReceivedRequest[] }> {
  const requests: ReceivedRequest[] = [];
  const server = createServer((request, response) => {
    requests.push({ path: request.url ?? '', headers: request.headers });
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

function scratchFile(t: TestContext): string {
  const folder = temporaryFolder(t, 'fetch-');
  return join(folder, 'file');
}

async function problemOf(work: Promise<unknown>): Promise<FetchProblem> {
  const error = await work.then(
    () => assert.fail('nothing was refused'),
    (refused: unknown) => refused,
  );
  assert.ok(error instanceof FetchProblem, String(error));
  return error;
}

test('a file is written as it arrives, and its checksum is computed on the way', async (t) => {
  const content = Buffer.alloc(300_000, 'abc');
  const { url, requests } = await serve(t, (_, response) => void response.end(content));
  const file = scratchFile(t);
  const fetched = await fetchFile({ url, limits, signal }, file);
  assert.deepEqual(fetched, {
    sha256: createHash('sha256').update(content).digest('hex'),
    bytes: content.length,
  });
  assert.ok(readFileSync(file).equals(content));
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(requests[0]?.headers['accept-encoding'], 'identity');
});

test('credentials are sent to their own host, also after its redirects, and to no other', async (t) => {
  const elsewhere = await serve(t, (_, response) => void response.end('found'));
  const own = await serve(t, ({ url }, response) => {
    const location = url === '/away' ? `${elsewhere.url}/there` : '/here';
    if (url === '/here') response.end('found');
    else response.writeHead(302, { location }).end();
  });
  const headers = { authorization: 'Bearer opensesame' };
  for (const path of ['/away', '/within']) {
    const { body } = await fetchBytes({ url: `${own.url}${path}`, headers, limits, signal });
    assert.equal(body.toString(), 'found');
  }
  assert.deepEqual(
    [...own.requests, ...elsewhere.requests].map(({ path, headers: sent }) => [path, sent.authorization]),
    [
      ['/away', 'Bearer opensesame'],
      ['/within', 'Bearer opensesame'],
      ['/here', 'Bearer opensesame'],
      ['/there', undefined],
    ],
  );
});

test('an overload and a broken connection are retried, a file from its beginning', async (t) => {
  let count = 0;
  const { url } = await serve(t, (_, response) => {
    count += 1;
    if (count === 1) return void response.writeHead(503).end();
    if (count === 3) return void response.end('whole');
    response.writeHead(200, { 'content-length': 5 });
    response.write('who');
    setImmediate(() => response.destroy());
  });
  const file = scratchFile(t);
  assert.equal((await fetchFile({ url, limits, signal }, file)).bytes, 5);
  assert.equal(readFileSync(file, 'utf8'), 'whole');
});

test('permanent failures are reported immediately, with the address without its query', async (t) => {
  const { url, requests } = await serve(t, (_, response) => void response.writeHead(404).end('no'));
  const problem = await problemOf(fetchBytes({ url: `${url}/file?signature=opensesame`, limits, signal }));
  assert.deepEqual([problem.status, problem.message], [404, `${url}/file answered with status 404`]);
  assert.equal(requests.length, 1);
  assert.equal((await fetchBytes({ url, limits, signal }, [404])).status, 404);
});

test('an answer that is shorter than its length is never kept', async (t) => {
  const server = createSocketServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  assert.match(
    (await problemOf(fetchFile({ url, limits, signal }, scratchFile(t)))).message,
    /cannot be read: the connection was reset$/,
  );
});

test('a silent, an endlessly slow and a too large answer are aborted', async (t) => {
  const { url, requests } = await serve(t, ({ url: path }, response) => {
    if (path === '/silent') return;
    if (path === '/packed')
      return void response
        .writeHead(200, { 'content-encoding': 'gzip' })
        .end(gzipSync(Buffer.alloc(2_000_000)));
    if (path === '/large') return void response.end(Buffer.alloc(2_000_000));
    response.write('x');
    if (path === '/stalls') return;
    const trickle = setInterval(() => response.write('x'), 20);
    response.once('close', () => clearInterval(trickle));
  });
  const refusal = async (path: string, changes: Partial<FetchLimits> = {}) =>
    (
      await problemOf(fetchBytes({ url: `${url}${path}`, limits: { ...limits, ...changes }, signal }))
    ).message.slice(url.length);
  assert.equal(await refusal('/silent', { silenceSeconds: 0.2 }), '/silent gave no answer for 0.2 s');
  assert.equal(requests.length, 1, 'a host that never answers is not tried again');
  assert.equal(await refusal('/stalls', { silenceSeconds: 0.2 }), '/stalls gave no answer for 0.2 s');
  assert.equal(requests.length, 4, 'a host that stalled may continue');
  assert.equal(await refusal('/trickle', { wholeSeconds: 0.3 }), '/trickle took more than 0.3 s');
  assert.equal(await refusal('/large'), '/large sends more than 1000000 bytes, which is the limit');
  assert.equal(await refusal('/packed'), '/packed sends more than 1000000 bytes, which is the limit');
});

test('a stop ends a fetch with its own reason, also between two attempts', async (t) => {
  const { url, requests } = await serve(
    t,
    ({ url: path }, response) => void (path === '/busy' && response.writeHead(503).end()),
  );
  for (const path of ['/busy', '/silent']) {
    const stop = new AbortController();
    const reason = new Error('the deployment was aborted');
    const fetching = fetchBytes({ url: `${url}${path}`, limits, signal: stop.signal });
    fetching.catch(() => undefined);
    await until('the request', () => requests.some((one) => one.path === path), 10);
    stop.abort(reason);
    await assert.rejects(fetching, reason);
  }
});

test('a file that cannot be written is not reported as a fault of the host', async (t) => {
  const { url } = await serve(t, (_, response) => void response.end('content'));
  await assert.rejects(fetchFile({ url, limits, signal }, join(scratchFile(t), 'below')), { code: 'ENOENT' });
});

test('an invalid address and one with a password are refused', async () => {
  for (const url of ['nonsense', 'file:///etc/passwd', 'data:text/plain,x'])
    assert.match(
      (await problemOf(fetchBytes({ url, limits, signal }))).message,
      /is not an http or https address$/,
    );
  const { message } = await problemOf(
    fetchBytes({ url: 'https://reader:opensesame@127.0.0.1/file', limits, signal }),
  );
  assert.equal(message, 'https://127.0.0.1/file contains a password and is not used');
});

test('the proxies of the process are used, and one that refuses is named', async (t) => {
  const { url } = await serve(t, (_, response) => void response.end('found'));
  await using proxy = await startForwardProxy({
    credentials: 'reader:opensesame',
    rewrite: { 'mirror.example:80': new URL(url).host },
  });
  const fetchThrough = async (address: string) => {
    const restore = setGlobalProxyFromEnv({ http_proxy: address });
    return fetchBytes({ url: 'http://mirror.example/', limits, signal }).finally(restore);
  };
  assert.equal((await fetchThrough(proxy.url)).body.toString(), 'found');
  assert.equal(proxy.requests.length, 1);
  const wrong = proxy.url.replace('opensesame', 'wrong');
  assert.match(
    (await problemOf(fetchThrough(wrong))).message,
    /^http:\/\/mirror\.example\/ cannot be read: the agent's proxy \(HTTP_PROXY, HTTPS_PROXY\) answered with status 407$/,
  );
});

test(
  'a private certificate authority is trusted once configured, and reported as unknown before',
  withOpenssl,
  async (t) => {
    const folder = dirname(scratchFile(t));
    const authority = makeAuthority(folder);
    const server = createSecureServer(authority.server, (_, response) => void response.end('found'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const { message } = await problemOf(fetchBytes({ url, limits, signal }));
    assert.match(
      message,
      /cannot be read: the authority of the host's certificate is not trusted: name its certificate in ENVARIUM_CA_FILE$/,
    );
    const before = getCACertificates('default');
    t.after(() => setDefaultCACertificates(before));
    useNetwork(trustedCertificates(readCertificates(authority.file, 'ENVARIUM_CA_FILE')), {});
    assert.equal((await fetchBytes({ url, limits, signal })).body.toString(), 'found');
  },
);
