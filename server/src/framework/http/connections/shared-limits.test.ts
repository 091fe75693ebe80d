import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kill } from 'node:process';
import { type TestContext, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { readCertificates, trustedCertificates, useNetwork } from '#settings/network.ts';
import { Secret } from '#settings/secret.ts';
import { makeAuthority, withoutOpenssl } from '../../../../../agent/testing/certificates.ts';
import { freePort } from '../../../../../tools/suite/free-port.ts';
import { until } from '../../../../../tools/suite/until.ts';
import { type TestApp, testApp } from '../../../../testing/app.ts';
import { basic, send } from '../../../../testing/client.ts';
import { fieldOf } from '../../../../testing/fields.ts';
import { StoreServer, storePassword, withoutStore } from '../../../../testing/store-server.ts';
import { families } from '../../../families.ts';
import { readSettings, SettingsError } from '../../../ground/config/config.ts';
import type { Limits } from '../../../ground/limits/counts.ts';
import { openLimits } from '../../../ground/limits/open-limits.ts';
import { SharedStore } from '../../../ground/limits/shared-counts.ts';
import { buildApp } from '../app.ts';

const needsStore = { skip: withoutStore, timeout: 60_000 };
const url = '/api/organizations';

/** Another server of the same installation. */
async function anotherServer(first: TestApp): Promise<{ app: FastifyInstance; limits: Limits }> {
  const { context } = first;
  const limits = await openLimits(context.settings, context);
  return { app: await buildApp({ ...context, limits }, families), limits };
}

async function servers(settings: Record<string, string>) {
  const first = await testApp({ ENVARIUM_LOG_LEVEL: 'info', ...settings });
  const { app, limits } = await anotherServer(first);
  const other: TestApp = { ...first, app };
  return { first, other, logged: first.logged, [Symbol.asyncDispose]: () => limits[Symbol.asyncDispose]() };
}

async function statuses(app: TestApp, times: number): Promise<number[]> {
  const found: number[] = [];
  for (let index = 0; index < times; index++) found.push((await send(app, { url })).statusCode);
  return found;
}

const about = (logged: string[]) => logged.filter((line) => line.includes('ENVARIUM_RATE_LIMIT_STORE_URL'));

test('two servers count requests together', needsStore, async () => {
  await using store = await StoreServer.start();
  for (const address of [store.url, store.socketUrl]) {
    await using both = await servers({ ENVARIUM_RATE_LIMIT: '5', ENVARIUM_RATE_LIMIT_STORE_URL: address });
    assert.deepEqual(await statuses(both.first, 3), [200, 200, 200]);
    assert.deepEqual(await statuses(both.other, 3), [200, 200, 429]);
    assert.deepEqual(await statuses(both.first, 1), [429]);
    const refused = await send(both.other, { url });
    const wait = Number(refused.headers['retry-after']);
    assert.ok(wait > 50 && wait <= 60, `${wait}`);
    assert.deepEqual(about(both.logged), []);
  }
});

test('a store is reached over TLS, and only with a certificate that is trusted', {
  ...needsStore,
  skip: withoutStore || withoutOpenssl,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'envarium-store-tls-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const authority = makeAuthority(folder);
  const port = await freePort();
  const files = ['--tls-cert-file', join(folder, 'server.pem'), '--tls-key-file', join(folder, 'server.key')];
  const options = ['--tls-port', String(port), ...files, '--tls-auth-clients', 'no', '--tls-ca-cert-file'];
  await using _store = await StoreServer.start([...options, authority.file]);
  const settings = {
    ENVARIUM_RATE_LIMIT: '3',
    ENVARIUM_RATE_LIMIT_STORE_URL: `rediss://:${storePassword}@localhost:${port}`,
  };
  const strange = await testApp(settings);
  assert.match(about(strange.logged).join(''), /"reason":"[^"]*certificate/);
  useNetwork(trustedCertificates(readCertificates(authority.file, 'ENVARIUM_CA_FILE')), {});
  await using both = await servers(settings);
  assert.deepEqual(await statuses(both.first, 2), [200, 200]);
  assert.deepEqual(await statuses(both.other, 2), [200, 429]);
  assert.deepEqual(about(both.logged), []);
});

test('two servers count refused credentials together', needsStore, async () => {
  await using store = await StoreServer.start();
  await using both = await servers({ ENVARIUM_FAILURE_LIMIT: '4', ENVARIUM_RATE_LIMIT_STORE_URL: store.url });
  const guess = async (app: TestApp) => {
    const headers = { authorization: basic({ id: 'admin', secret: 'wrong' }) };
    return (await send(app, { url, headers }, null)).statusCode;
  };
  const found: number[] = [];
  for (const app of [both.first, both.other, both.first, both.other, both.first, both.other])
    found.push(await guess(app));
  assert.deepEqual(found, [401, 401, 401, 401, 429, 429]);
  const elsewhere = { url, remoteAddress: '192.0.2.6' };
  assert.equal((await send(both.other, elsewhere)).statusCode, 200);
});

test(
  'a store that dies is missed by no request, is logged once, and is used again when it is back',
  needsStore,
  async () => {
    await using store = await StoreServer.start();
    await using both = await servers({ ENVARIUM_RATE_LIMIT: '8', ENVARIUM_RATE_LIMIT_STORE_URL: store.url });
    assert.deepEqual(await statuses(both.first, 3), [200, 200, 200]);
    await store.kill();
    assert.deepEqual(
      await statuses(both.first, 6),
      [200, 200, 200, 200, 200, 429],
      'the server continues with its own count',
    );
    assert.deepEqual(await statuses(both.other, 2), [200, 200]);
    const warnings = about(both.logged).map((line) => JSON.parse(line) as { level: number; msg: string });
    assert.deepEqual(fieldOf(warnings, 'level'), [40, 40], 'one warning of each server');
    assert.match(warnings[0]?.msg ?? '', /this server counts requests alone until it does$/);
    // Of two servers, which try again each second.
    await store.refuse(4);
    assert.equal(about(both.logged).length, 2, 'no further warning while it is away');
    await store.start();
    await until('the recovery of both', () => about(both.logged).length === 4);
    assert.match(both.logged.join(''), /the store in ENVARIUM_RATE_LIMIT_STORE_URL answers again/);
    assert.deepEqual(await statuses(both.other, 6), [200, 200, 200, 200, 200, 200]);
    assert.doesNotMatch(both.logged.join(''), new RegExp(storePassword));
  },
);

/** Counts the questions to stores whose answer is waited for. */
function countWaits(t: TestContext): { waits: number } {
  const { ask } = SharedStore.prototype;
  const counted = { waits: 0 };
  t.mock.method(
    SharedStore.prototype,
    'ask',
    function (this: SharedStore, question: Parameters<typeof ask>[0]) {
      const answer = ask.call(this, question);
      let isAnswered = false;
      void answer.then(() => (isAnswered = true));
      // Before any timer, and after the answer of a store that is not asked.
      setImmediate(() => {
        if (!isAnswered) counted.waits += 1;
      });
      return answer;
    },
  );
  return counted;
}

test('a store that hangs delays a request once, for a moment', needsStore, async (t) => {
  await using store = await StoreServer.start();
  const app = await testApp({
    ENVARIUM_RATE_LIMIT: '1000',
    ENVARIUM_RATE_LIMIT_STORE_URL: store.url,
    ENVARIUM_LOG_LEVEL: 'info',
  });
  assert.deepEqual(await statuses(app, 1), [200]);
  kill(store.pid, 'SIGSTOP');
  const counted = countWaits(t);
  const found = await Promise.all(Array.from({ length: 3 }, () => statuses(app, 80)));
  assert.ok(found.flat().every((status) => status === 200));
  assert.ok(counted.waits >= 1 && counted.waits <= 3, `${counted.waits} of 240 requests have waited`);
  assert.match(about(app.logged).join(''), /"reason":"No answer within 250 ms"/);
  kill(store.pid, 'SIGCONT');
  await until('the recovery', () => about(app.logged).length === 2);
});

test('a service starts without its store, and finds it later', needsStore, async () => {
  await using store = await StoreServer.start();
  await store.kill();
  const app = await testApp({
    ENVARIUM_RATE_LIMIT: '2',
    ENVARIUM_RATE_LIMIT_STORE_URL: store.url,
    ENVARIUM_LOG_LEVEL: 'info',
  });
  assert.deepEqual(await statuses(app, 3), [200, 200, 429]);
  assert.match(about(app.logged).join(''), /"reason":"connect ECONNREFUSED/);
  await store.start();
  await until('the recovery', () => about(app.logged).length === 2);
});

test(
  'a wrong password, a full store and one that may not be written count as a store that does not answer',
  needsStore,
  async () => {
    await using store = await StoreServer.start(['--maxmemory', '1', '--maxmemory-policy', 'noeviction']);
    const wrong = store.url.replace(storePassword, 'planted-wrong');
    for (const [address, reason] of [
      [wrong, /WRONGPASS/],
      [store.url, /OOM command not allowed|EXECABORT|errors/],
    ] as const) {
      const app = await testApp({ ENVARIUM_RATE_LIMIT: '2', ENVARIUM_RATE_LIMIT_STORE_URL: address });
      assert.deepEqual(await statuses(app, 3), [200, 200, 429]);
      assert.match(about(app.logged).join(''), reason);
      assert.doesNotMatch(app.logged.join(''), /planted/);
    }
  },
);

test(
  'the store learns no address, path or secret, and forgets everything within a minute',
  needsStore,
  async () => {
    await using store = await StoreServer.start();
    const app = await testApp({
      ENVARIUM_RATE_LIMIT: '9',
      ENVARIUM_STATE_RATE_LIMIT: '9',
      ENVARIUM_FAILURE_LIMIT: '9',
      ENVARIUM_RATE_LIMIT_STORE_URL: store.url,
    });
    await statuses(app, 2);
    await send(app, { url: `/state/v1/environments/${app.projectId}` });
    await send(app, { url, headers: { authorization: basic({ id: 'nobody', secret: 'nothing' }) } }, null);
    const { createClient } = await import('@redis/client');
    const client = await createClient({ url: store.url }).connect();
    const keys = await client.keys('*');
    const remaining = await Promise.all(keys.map((key) => client.pTTL(key)));
    client.destroy();
    assert.equal(keys.length, 3);
    for (const key of keys) assert.match(key, /^envarium:(requests|failures):[\w-]{20,30}$/);
    assert.ok(remaining.every((milliseconds) => milliseconds > 0 && milliseconds <= 60_000));
  },
);

test('an address that no client understands is refused at the start, without its password', () => {
  const read = (value: string) =>
    readSettings({ ENVARIUM_RATE_LIMIT_STORE_URL: value }).rateLimitStore instanceof Secret;
  const good = [
    'redis://127.0.0.1',
    'redis://:word@[::1]:6379/2',
    'rediss://user:w%40rd@store.example.com:6380',
    'unix:///run/redis/redis.sock',
    'unix://user:word@/run/redis/redis.sock?db=3',
  ];
  for (const value of good) assert.equal(read(value), true, value);
  const bad = [
    'planted',
    'http://planted@host',
    'redis://',
    'redis://:planted@host/name',
    'redis://:planted@host:99999',
    'redis://:%ZZplanted@host',
    'redis://:planted@host?db=1',
    'unix://planted',
    'unix://:planted@/run/x?name=1',
    'unix://:%ZZplanted@/run/x',
  ];
  for (const value of bad)
    assert.throws(
      () => read(value),
      (error) =>
        error instanceof SettingsError &&
        error.message.startsWith('ENVARIUM_RATE_LIMIT_STORE_URL must be redis:') &&
        !error.message.includes('planted'),
      value,
    );
});
