import assert from 'node:assert/strict';
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import { test } from 'node:test';
import { openReceiver } from '../../testing/receiver.ts';
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
  assert.deepEqual(
    receiver.received.map(({ body }) => body),
    ['hello'],
  );
});

test('a stored address that is no longer allowed gets nothing', async () => {
  const { error, request } = await postTo({ ...settings, notificationHttpHosts: [] }, post, running);
  assert.match(error?.message ?? '', /must be an https/);
  assert.equal(request, null);
});
