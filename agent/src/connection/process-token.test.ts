import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { Secret } from '#settings/secret.ts';
import { registration } from '../../testing/registration.ts';
import { connectToServer } from './connection.ts';
import { isRefusal } from './refusals.ts';

const attempt = { jobId: 'job', attempt: 1, fence: 1 };
const real = performance.now.bind(performance);
const basic = `Basic ${Buffer.from('key:s3cret-value').toString('base64')}`;

/** A service that issues numbered tokens, of which only the newest is valid. */
async function start(t: TestContext, tokenSeconds: number) {
  const service = { issued: 0, refusesSecret: false, isBusy: false, seen: [] as string[] };
  const issue = () => ({ token: `t${++service.issued}`, expiresInSeconds: tokenSeconds });
  const server = createServer((request, response) => {
    const name = request.url?.split('/').at(-1) ?? '';
    const { authorization = '' } = request.headers;
    service.seen.push(`${name} ${authorization.replace(basic, 'secret')}`);
    const refuse = () =>
      response.writeHead(401).end(JSON.stringify({ code: 'unauthorized', message: 'no', requestId: 'r' }));
    if (name === 'register' || name === 'token') {
      if (service.isBusy) return void response.writeHead(429).end('{}');
      if (authorization !== basic || service.refusesSecret) return void refuse();
      const settings = { heartbeatSeconds: 1, offlineGraceSeconds: 1, abortSeconds: 1 };
      const now = new Date().toISOString();
      const token = issue();
      const reply = { agentId: 'a', epoch: 1, token, settings, now, unwanted: [] };
      return void response.end(JSON.stringify(name === 'token' ? token : reply));
    }
    return void (authorization === `Bearer t${service.issued}` ? response.end('{}') : refuse());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const connection = connectToServer({
    urls: [`http://127.0.0.1:${(server.address() as AddressInfo).port}`],
    agentKey: 'key',
    agentSecret: new Secret('s3cret-value'),
    log: { info: () => {}, warn: () => {} },
  });
  await connection.register(registration);
  service.seen.length = 0;
  return { service, connection, mark: () => connection.mark(attempt, { mark: 'x'.repeat(16) }) };
}

test('calls carry the token, which is renewed before its end, once for all that wait', async (t) => {
  const { service, mark } = await start(t, 3600);
  await mark();
  assert.deepEqual(service.seen, ['mark Bearer t1']);
  const ending = await start(t, 0);
  await Promise.all([ending.mark(), ending.mark()]);
  const exchanges = ending.service.seen.filter((text) => text === 'token secret');
  assert.ok(exchanges.length >= 1);
  assert.equal(ending.service.seen[0], 'token secret', 'before the call, not after its refusal');
});

test('a token that the service refuses is replaced, and the call is sent again', async (t) => {
  const { service, mark } = await start(t, 3600);
  service.issued = 7;
  await Promise.all([mark(), mark(), mark()]);
  assert.equal(service.seen.filter((text) => text === 'token secret').length, 1);
  assert.equal(service.seen.filter((text) => text === 'mark Bearer t8').length, 3);
});

test('a secret that the service refuses ends the call with that refusal, without a loop', async (t) => {
  const { service, mark } = await start(t, 3600);
  service.issued = 7;
  service.refusesSecret = true;
  await assert.rejects(mark(), (error) => isRefusal(error, 'unauthorized'));
  assert.deepEqual(service.seen, ['mark Bearer t1', 'token secret']);
});

test('a token serves until its end while the service cannot renew it', async (t) => {
  const { service, mark } = await start(t, 60);
  t.mock.method(performance, 'now', () => real() + 40_000);
  service.isBusy = true;
  await mark();
  await mark();
  assert.deepEqual(service.seen, ['token secret', 'mark Bearer t1', 'mark Bearer t1']);
});
