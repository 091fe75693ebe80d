import assert from 'node:assert/strict';
import dns from 'node:dns';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setDefaultCACertificates } from 'node:tls';
import { makeAuthority, withoutOpenssl } from '../../../../../agent/testing/certificates.ts';
import { startForwardProxy } from '../../../../../agent/testing/forward-proxy.ts';
import { fieldOf } from '../../../../testing/fields.ts';
import { openReceiver } from '../../../../testing/receiver.ts';
import { ClosedAddress, guardedLookup } from '../endpoints/guarded-address.ts';
import { type PostSettings, postTo } from './post.ts';

const receiver = await openReceiver();
const { port } = new URL(receiver.address);
const post = { address: `http://hooks.example.com:${port}/x`, headers: {}, body: 'hello', secrets: [] };
const settings: PostSettings = {
  notificationHttpHosts: ['hooks.example.com'],
  notificationNetworks: [],
  notificationProxy: undefined,
};
const running = new AbortController().signal;

test('a name is checked by the addresses that it has when the connection is made', async (t) => {
  let addresses = ['127.0.0.1', '::1', '10.0.0.1'];
  t.mock.method(dns, 'lookup', (_name: string, _options: object, answer: (...found: unknown[]) => void) =>
    answer(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    ),
  );
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  const refused = await postTo(settings, post, running);
  assert.match(refused.error?.message ?? '', /leads to 127\.0\.0\.1, of a private or local network/);
  assert.equal(refused.request, null);
  assert.equal(receiver.received.length, 0);
  addresses = ['10.0.0.1', '127.0.0.1'];
  const allowed = await postTo({ ...settings, notificationNetworks: ['127.0.0.0/8'] }, post, running);
  assert.equal(allowed.error, null, 'of several addresses, only open ones are used');
  assert.deepEqual(fieldOf(receiver.received, 'body'), ['hello']);
});

test('a stored address that is no longer allowed gets nothing', async () => {
  const { error, request } = await postTo({ ...settings, notificationHttpHosts: [] }, post, running);
  assert.match(error?.message ?? '', /must be an https/);
  assert.equal(request, null);
});

test('a proxy of the settings gets the name, and decides', async () => {
  await using proxy = await startForwardProxy({
    rewrite: { [`hooks.example.com:${port}`]: `127.0.0.1:${port}` },
  });
  receiver.received.length = 0;
  const sent = await postTo({ ...settings, notificationProxy: proxy.url }, post, running);
  assert.equal(sent.error, null);
  assert.deepEqual(proxy.requests, [`POST http://hooks.example.com:${port}/x`]);
  assert.equal(receiver.received.length, 1);
});

test('only a certificate of a trusted authority is accepted', { skip: withoutOpenssl }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'envarium-post-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const authority = makeAuthority(folder);
  const server = createServer(authority.server, (_, response) => response.end('taken'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const local = { ...settings, notificationNetworks: ['127.0.0.1'] };
  const refused = await postTo(local, { ...post, address }, running);
  assert.equal(refused.error?.type, 'ssl-error', refused.error?.message);
  setDefaultCACertificates([readFileSync(authority.file, 'utf8')]);
  const taken = await postTo(local, { ...post, address }, running);
  assert.deepEqual([taken.error, taken.response?.status], [null, 200]);
});

test('addresses of the public internet are open in both families', async () => {
  const lookup = guardedLookup({ notificationHttpHosts: [], notificationNetworks: [] });
  const isClosed = (ip: string) =>
    new Promise((resolve) => lookup(ip, { all: true }, (error) => resolve(error instanceof ClosedAddress)));
  for (const ip of ['1.1.1.1', '2606:4700:4700::1111', '2a00:1450::1', '::ffff:1.1.1.1'])
    assert.equal(await isClosed(ip), false, ip);
  for (const ip of ['::ffff:0:1.1.1.1', '5f00::1', '3fff::1', 'fe80::1%eth0', '::ffff:127.0.0.1'])
    assert.equal(await isClosed(ip), true, ip);
});
