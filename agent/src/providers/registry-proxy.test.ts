import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownPlatform } from '../own-platform.ts';
import { startRegistryProxy } from './registry-proxy.ts';

test('requests without the secret of a run are refused and leave no trace', async () => {
  const host = 'registry.example';
  const upstreams = new Map([
    [host, { kind: 'registry', url: 'http://127.0.0.1:1/', needsSignature: true } as const],
  ]);
  const { signal } = new AbortController();
  await using proxy = await startRegistryProxy({ upstreams, atHand: async () => [], signal });
  const own = proxy.addressFor(host);
  const path = `acme/one/1.0.0/download/${ownPlatform.replace('_', '/')}`;
  const { origin } = new URL(own);
  for (const address of [origin, `${origin}/%`, `${origin}/${'0'.repeat(32)}/${host}/${path}`])
    assert.equal((await fetch(address)).status, 404);
  assert.deepEqual([proxy.isUsed(), proxy.takeMissing()], [false, []]);
  assert.equal((await fetch(`${own}${path}`)).status, 404);
  assert.equal(proxy.isUsed(), true);
  assert.deepEqual(proxy.takeMissing(), [
    { host, namespace: 'acme', type: 'one', version: '1.0.0', platform: ownPlatform },
  ]);
});
