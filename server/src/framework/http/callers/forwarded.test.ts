import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testApp } from '../../../../testing/app.ts';
import { readSettings, SettingsError } from '../../../ground/config/config.ts';
import { openAdmission } from './authenticate.ts';
import { arrivedOverTls } from './forwarded.ts';

/** Derived facts of a request: the address of its caller, and whether it arrived over TLS. */
async function seer(trusted: string, peer = '192.0.2.1') {
  const { app } = await testApp({ ENVARIUM_TRUSTED_PROXIES: trusted });
  app.get('/seen', { config: openAdmission }, async (request) => ({
    ip: request.ip,
    isOverTls: arrivedOverTls(request),
  }));
  const send = (headers: Record<string, string>) =>
    app.inject({ url: '/seen', remoteAddress: peer, headers });
  return {
    send,
    ip: async (forwarded: string) => (await send({ 'x-forwarded-for': forwarded })).json<{ ip: string }>().ip,
    isOverTls: async (schemes: string, forwarded = '198.51.100.7') =>
      (await send({ 'x-forwarded-for': forwarded, 'x-forwarded-proto': schemes })).json<{
        isOverTls: boolean;
      }>().isOverTls,
  };
}

test('without trusted proxies, no one can claim another address or TLS', async () => {
  const { ip, isOverTls } = await seer('');
  assert.equal(await ip('203.0.113.9'), '192.0.2.1');
  assert.equal(await ip('nonsense'), '192.0.2.1');
  assert.equal(await isOverTls('https'), false);
  const foreign = await seer('10.0.0.0/8');
  assert.equal(await foreign.ip('203.0.113.9, 10.0.0.1'), '192.0.2.1');
  assert.equal(await foreign.ip('nonsense'), '192.0.2.1');
  assert.equal(await foreign.isOverTls('https'), false);
});

test('behind one trusted proxy, the last address of the chain is the caller', async () => {
  const { ip, isOverTls } = await seer('192.0.2.1');
  assert.equal(await ip('198.51.100.7'), '198.51.100.7');
  assert.equal(await ip('203.0.113.9, 198.51.100.7'), '198.51.100.7');
  assert.equal(await ip('nonsense, 198.51.100.7'), '198.51.100.7');
  assert.equal(await ip('192.0.2.1, 198.51.100.7'), '198.51.100.7');
  assert.equal(await isOverTls('https'), true);
  assert.equal(await isOverTls('HTTPS'), true);
  assert.equal(await isOverTls('http'), false);
  assert.equal(await isOverTls('https, http'), false, 'the first one was sent by the caller');
});

test('behind two trusted proxies, the address before both of them is the caller', async () => {
  const { ip, isOverTls } = await seer('192.0.2.0/24, 2001:db8::/32');
  assert.equal(await ip('203.0.113.9, 198.51.100.7, 192.0.2.77'), '198.51.100.7');
  assert.equal(await ip('198.51.100.7, 2001:db8:1::5'), '198.51.100.7');
  assert.equal(await ip('2001:dead::1, 2001:db8:1::5'), '2001:dead::1');
  const chain = '198.51.100.7, 192.0.2.77';
  assert.equal(await isOverTls('https', chain), true, 'the inner proxy passes on what the outer one wrote');
  assert.equal(await isOverTls('https, http', chain), true, 'the outer proxy received TLS');
  assert.equal(await isOverTls('https, http, http', chain), false);
});

test('proxies are recognized however the system writes their address', async () => {
  const mapped = await seer('192.0.2.1', '::ffff:192.0.2.1');
  assert.equal(await mapped.ip('198.51.100.7'), '198.51.100.7');
  const version6 = await seer('2001:db8::/64', '2001:db8:0:0::9');
  assert.equal(await version6.ip('198.51.100.7'), '198.51.100.7');
  assert.equal(await version6.ip('[2001:dead::1]:4711'), '2001:dead::1');
  assert.equal(await version6.ip('[2001:dead::1]'), '2001:dead::1');
  assert.equal(await version6.ip('198.51.100.7:4711'), '198.51.100.7');
});

test('a proxy that sends no address is refused with what it sent, and nothing else happens', async () => {
  const { send } = await seer('192.0.2.1');
  for (const forwarded of [
    'unknown',
    '_hidden',
    '198.51.100.7, 1.2.3',
    '999.1.1.1',
    `${'a'.repeat(5000)}`,
    '%00',
  ]) {
    const response = await send({ 'x-forwarded-for': forwarded });
    assert.equal(response.statusCode, 400, forwarded);
    assert.match(response.json<{ message: string }>().message, /^The header X-Forwarded-For has "/);
    assert.ok(response.body.length < 500);
  }
  for (const forwarded of ['', ' ', ',', ' , '])
    assert.equal((await send({ 'x-forwarded-for': forwarded })).statusCode, 200, forwarded);
});

test('only answers over TLS have the header for browsers to stay with https', async () => {
  const { send } = await seer('192.0.2.1');
  const overTls = await send({ 'x-forwarded-for': '198.51.100.7', 'x-forwarded-proto': 'https' });
  assert.equal(overTls.headers['strict-transport-security'], 'max-age=31536000');
  const plain = await send({ 'x-forwarded-for': '198.51.100.7', 'x-forwarded-proto': 'http' });
  assert.equal(plain.headers['strict-transport-security'], undefined);
  const { app } = await testApp({ ENVARIUM_TRUSTED_PROXIES: '127.0.0.1', ENVARIUM_HSTS_SECONDS: '0' });
  const headers = { 'x-forwarded-for': '198.51.100.7', 'x-forwarded-proto': 'https' };
  assert.equal(
    (await app.inject({ url: '/healthz', headers })).headers['strict-transport-security'],
    undefined,
  );
});

test('proxies that cannot be understood, or would be everybody, are refused at the start', () => {
  for (const value of [
    '10.0.0.0/0',
    '::/0',
    '10.0.0.0/33',
    '::/129',
    'proxy.internal',
    '10.0.0',
    '1.2.3.4/x',
    'fe80::1%eth0',
  ])
    assert.throws(
      () => readSettings({ ENVARIUM_TRUSTED_PROXIES: value }),
      (error) =>
        error instanceof SettingsError &&
        error.message.startsWith('ENVARIUM_TRUSTED_PROXIES must be IP addresses'),
      value,
    );
  for (const value of ['10.0.0.0/8,fd00::/8', '127.0.0.1', '::1, ::ffff:10.0.0.0/104'])
    assert.equal(readSettings({ ENVARIUM_TRUSTED_PROXIES: value }).trustedProxies.length > 0, true);
});
