import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { protocolBase } from '#protocol/routes.ts';
import { until } from '../../../../../tools/suite/until.ts';
import { basic } from '../../../../testing/client.ts';
import { startTests } from '../../../../testing/start.ts';

const { app, createIdle } = await startTests({
  ENVARIUM_BODY_IDLE_SECONDS: '1',
  ENVARIUM_CONNECTION_LIMIT: '10',
});
const port = Number(new URL(await app.listen()).port);
const environment = await createIdle();

function open(method: string, url: string, headers: Record<string, string> = {}): Socket {
  const lines = Object.entries({ host: 'x', ...headers }).map(([name, value]) => `${name}: ${value}`);
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => {});
  socket.write(`${method} ${url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  return socket;
}

/** Everything that the service answers until it closes the connection. */
async function untilClosed(socket: Socket): Promise<string> {
  let text = '';
  socket.setEncoding('latin1').on('data', (part: string) => (text += part));
  socket.once('end', () => socket.end());
  await once(socket, 'close', { signal: AbortSignal.timeout(20_000) });
  return text;
}

const authorization = basic(app.admin);

test('a half-sent body is given up, also of an upload', async () => {
  for (const [method, url] of [
    ['POST', '/api/projects'],
    ['POST', `/api/environments/${environment.id}/state/import`],
    ['POST', `/state/v1/environments/${environment.id}`],
  ] as const) {
    const socket = open(method, url, { authorization, 'content-length': '1000' });
    socket.write('{"a":');
    assert.match(await untilClosed(socket), /^HTTP\/1\.1 408 .*did not arrive completely in time/s, url);
  }
});

test('a body that arrives drop by drop is given up, unless it is an upload', async () => {
  const drip = (url: string) => {
    const socket = open('POST', url, { authorization, 'content-length': '1000' });
    const timer = setInterval(() => socket.write(' '), 300);
    socket.once('close', () => clearInterval(timer));
    return socket;
  };
  const upload = drip(`/state/v1/environments/${environment.id}`);
  assert.match(await untilClosed(drip('/api/projects')), /^HTTP\/1\.1 408 /);
  assert.equal(upload.destroyed, false);
  upload.destroy();
});

test('a refused caller cannot keep its connection by half a body', async () => {
  const socket = open('POST', `${protocolBase}/register`, { 'content-length': '1000' });
  assert.match(await untilClosed(socket), /^HTTP\/1\.1 401 /);
});

test('connections beyond the limit are closed', async () => {
  const sockets = Array.from({ length: 30 }, () => open('GET', '/healthz', { authorization }));
  const closed = () => sockets.filter((socket) => socket.destroyed || socket.readableEnded).length;
  await until('the end of twenty connections', () => closed() >= 20);
  for (const socket of sockets) socket.destroy();
});
