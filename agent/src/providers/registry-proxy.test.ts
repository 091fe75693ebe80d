import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { ownPlatform } from '../own/own-platform.ts';
import { startRegistryProxy } from './registry-proxy.ts';

const trusted = new Set(['127.0.0.1']);

test('requests without the secret of a run are refused and leave no trace', async () => {
  const host = 'registry.example';
  const upstreams = new Map([
    [host, { kind: 'registry', url: 'http://127.0.0.1:1/', needsSignature: true, trusted } as const],
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

test('a run reads nothing from an address inside the network that a registry names', async (t) => {
  const requests: (string | undefined)[] = [];
  const inside = createServer((request, response) => {
    requests.push(request.url);
    response.end('{"versions": [{"version": "1.0.0", "secret": "of the network"}]}');
  });
  await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve));
  t.after(() => inside.close());
  const url = `http://127.0.0.1:${(inside.address() as AddressInfo).port}/`;
  const { signal } = new AbortController();
  const statusOf = async (hosts: ReadonlySet<string>) => {
    const one = { kind: 'registry', url, needsSignature: true, trusted: hosts } as const;
    const upstreams = new Map([['registry.example', one]]);
    await using proxy = await startRegistryProxy({ upstreams, atHand: async () => [], signal });
    const { status } = await fetch(`${proxy.addressFor('registry.example')}acme/one/versions`);
    return [status, proxy.takeProblems().join()] as const;
  };
  const [status, problem] = await statusOf(new Set());
  assert.equal(status, 404);
  assert.match(problem, /is not used: .* is not an https address/);
  assert.deepEqual(requests, []);
  assert.deepEqual(await statusOf(trusted), [200, '']);
});
