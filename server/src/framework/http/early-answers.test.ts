import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { operations } from '#contract/operations.ts';
import type { Operation } from '#contract/schema/operation.ts';
import { stateProtocolBase } from '#contract/state/operations.ts';
import { protocolBase, protocolRoutes } from '#protocol/routes.ts';
import { basic } from '../../../testing/client.ts';
import { startTests } from '../../../testing/start.ts';

const { app, send } = await startTests();
const port = Number(new URL(await app.listen()).port);
const mebibyte = 1024 * 1024;

interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request without its body. */
function open({ method, url, headers = {} }: Sent): Socket {
  const lines = Object.entries({ host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}`);
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(`${method} ${url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  return socket;
}

/** The first bytes that the service answers, as text. */
async function answerOf(socket: Socket): Promise<string> {
  const [chunk] = (await once(socket, 'data', { signal: AbortSignal.timeout(5_000) })) as [Buffer];
  return chunk.toString('utf8');
}

/** Every route that reads a body, and addresses that lead nowhere. */
const withBodies: Sent[] = [
  ...(Object.values(operations) as Operation[])
    .filter(({ needs }) => needs !== 'nothing')
    .map((operation) => ({
      method: operation.method,
      url: `/api${operation.path.replaceAll(/\{\w+\}/g, () => randomUUID())}`,
    })),
  ...Object.values(protocolRoutes).map(({ method, path }) => ({
    method,
    url: `${protocolBase}${path.replaceAll(/\{\w+\}/g, '1')}`,
  })),
  ...['POST', 'LOCK', 'UNLOCK'].map((method) => ({ method, url: `${stateProtocolBase}/${randomUUID()}` })),
  { method: 'POST', url: '/api/nothing' },
  { method: 'POST', url: `${protocolBase}/nothing` },
  { method: 'POST', url: '/nothing' },
];

test('no route waits for the body of a caller without valid credentials', async () => {
  for (const authorization of [undefined, basic({ id: app.admin.id, secret: 'x'.repeat(43) })]) {
    for (const { method, url } of withBodies) {
      const headers = {
        'content-type': 'application/json',
        'content-length': String(240 * mebibyte),
        ...(authorization ? { authorization } : {}),
      };
      const socket = open({ method, url, headers });
      assert.match(await answerOf(socket), /^HTTP\/1\.1 401 /, `${method} ${url}`);
      socket.destroy();
    }
  }
});

test('what a refused caller still sends is not read, and its connection ends', async () => {
  for (const chunked of [false, true]) {
    const length: Record<string, string> = chunked
      ? { 'transfer-encoding': 'chunked' }
      : { 'content-length': String(240 * mebibyte) };
    const headers = { 'content-type': 'application/json', ...length };
    const socket = open({ method: 'POST', url: `${protocolBase}/register`, headers });
    assert.match(await answerOf(socket), /^HTTP\/1\.1 401 /);
    const chunk = Buffer.alloc(mebibyte, '[');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const sending = (async () => {
      for (let sent = 0; sent < 240 && !socket.destroyed; sent++) {
        if (chunked) socket.write(`${chunk.length.toString(16)}\r\n`);
        if (!socket.write(chunked ? Buffer.concat([chunk, Buffer.from('\r\n')]) : chunk))
          await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed]);
      }
    })();
    await Promise.race([closed, delay(10_000)]);
    await sending;
    assert.ok(socket.destroyed, 'the connection is closed');
    assert.ok(socket.bytesWritten - socket.writableLength < 64 * mebibyte, String(socket.bytesWritten));
  }
});

test('a connection stays open after the refusal of a small body', async () => {
  const headers = { 'content-type': 'application/json', 'content-length': '2' };
  const socket = open({ method: 'POST', url: '/api/projects', headers });
  socket.write('{}');
  assert.match(await answerOf(socket), /^HTTP\/1\.1 401 /);
  socket.write('GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n');
  assert.match(await answerOf(socket), /^HTTP\/1\.1 200 /);
  socket.destroy();
});

test('a caller that asks before it sends a body is invited only after its admission', async () => {
  const ask = (authorization: string | undefined) =>
    open({
      method: 'POST',
      url: '/api/projects',
      headers: {
        'content-type': 'application/json',
        'content-length': '2',
        expect: '100-continue',
        ...(authorization ? { authorization } : {}),
      },
    });
  const anonymous = ask(undefined);
  assert.match(await answerOf(anonymous), /^HTTP\/1\.1 401 /);
  anonymous.destroy();
  const known = ask(basic(app.admin));
  assert.match(await answerOf(known), /^HTTP\/1\.1 100 /);
  known.write('{}');
  assert.match(await answerOf(known), /^HTTP\/1\.1 400 /);
  known.destroy();
});

test('a caller whose right does not suffice is refused before its body is read', async () => {
  const reader = await app.addKey({ [app.organizationId]: 'Reader' });
  const outsider = await app.addKey();
  const headersOf = (key: typeof reader) => ({
    'content-type': 'application/json',
    'content-length': String(mebibyte),
    authorization: basic(key),
  });
  const cases: [Sent, RegExp][] = [
    [{ method: 'PUT', url: `/api/projects/${app.projectId}`, headers: headersOf(reader) }, / 403 /],
    [{ method: 'PUT', url: `/api/projects/${app.projectId}`, headers: headersOf(outsider) }, / 404 /],
    [{ method: 'POST', url: '/api/projects', headers: headersOf(reader) }, / 403 /],
    [{ method: 'POST', url: '/api/projects', headers: headersOf(outsider) }, / 403 /],
  ];
  for (const [sent, status] of cases) {
    const socket = open(sent);
    assert.match(await answerOf(socket), status, `${sent.method} ${sent.url}`);
    socket.destroy();
  }
});

test('an unknown path of the service needs credentials, a known path of another version, too', async () => {
  for (const url of ['/api/nothing', '/api/configuration', `${protocolBase}/nothing`])
    assert.equal((await send({ url }, null)).statusCode, 401, url);
});
