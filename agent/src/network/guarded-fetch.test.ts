import assert from 'node:assert/strict';
import dns from 'node:dns';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { checkedLookup, RefusedAddress } from '#guards/private-addresses.ts';
import { readCertificates, trustedCertificates } from '#settings/network.ts';
import { temporaryFolder } from '../../../tools/suite/temporary-folder.ts';
import { makeAuthority, withoutOpenssl } from '../../testing/certificates.ts';
import { fetchBytes, fetchFile } from './fetch-bounded.ts';

const withOpenssl = { skip: withoutOpenssl };
const limits = { silenceSeconds: 10, wholeSeconds: 20, bytes: 1e12 };
const { signal } = new AbortController();

async function serve(t: TestContext, answer: RequestListener, secure?: { key: Buffer; cert: Buffer }) {
  const requests: string[] = [];
  const handle: RequestListener = (request, response) => {
    requests.push(`${request.url} ${request.headers.authorization ?? ''}`.trim());
    answer(request, response);
  };
  const server = secure === undefined ? createServer(handle) : createSecureServer(secure, handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, requests };
}

const ask = (url: string, trusted: string[] = [], headers: Record<string, string> = {}) =>
  fetchBytes({ url, headers, limits, signal, trusted: new Set(trusted) });

/** Whether a host with this address is refused. */
function isRefused(address: string): Promise<boolean> {
  return new Promise((resolve) =>
    checkedLookup(address, 'HOSTS')(address, { all: true }, (error) =>
      resolve(error instanceof RefusedAddress),
    ),
  );
}

test('addresses that are not public are recognized in every form', async () => {
  const hidden =
    '127.0.0.1 10.1.2.3 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 255.255.255.255 224.0.0.1 ' +
    '::1 :: fe80::1 fd00:ec2::254 ::ffff:127.0.0.1 ::ffff:a9fe:a9fe 64:ff9b::a9fe:a9fe 64:ff9b::10.0.0.1 ' +
    '0:0:0:0:0:ffff:7f00:1 ::127.0.0.1 ff02::1 fe80::1%eth0';
  for (const address of hidden.split(' ')) assert.equal(await isRefused(address), true, address);
  for (const address of ['93.184.216.34', '8.8.8.8', '2606:4700::1111', '64:ff9b::808:808', '::ffff:8.8.8.8'])
    assert.equal(await isRefused(address), false, address);
});

test('an address that code names is used only over https and at public addresses', async (t) => {
  const { port, requests } = await serve(t, (_, response) => void response.end('inside'));
  const settings = /ENVARIUM_REGISTRY_PRIVATE_HOSTS/;
  for (const url of [
    `http://127.0.0.1:${port}/`,
    `https://127.0.0.1:${port}/`,
    `https://2130706433:${port}/`,
    `https://[::ffff:127.0.0.1]:${port}/`,
    `https://localhost:${port}/`,
    'http://registry.example/',
    'https://169.254.169.254/latest/meta-data/',
  ])
    await assert.rejects(ask(url), settings, url);
  assert.deepEqual(requests, []);
  assert.equal((await ask(`http://127.0.0.1:${port}/`, ['127.0.0.1'])).body.toString(), 'inside');
  assert.equal((await ask(`http://127.0.0.1:${port}/`, [`127.0.0.1:${port}`])).body.toString(), 'inside');
});

test('a name is resolved when the connection is made, and refused with a private address', async (t) => {
  const { port, requests } = await serve(t, (_, response) => void response.end('inside'));
  const lookups: string[] = [];
  type Found = (error: null, addresses: dns.LookupAddress[]) => void;
  const resolve = (name: string, _: object, found: Found) => {
    lookups.push(name);
    found(null, [
      { address: '93.184.216.34', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ]);
  };
  t.mock.method(dns, 'lookup', resolve);
  await assert.rejects(
    ask(`https://rebinding.example:${port}/`),
    /rebinding\.example has a private address.*ENVARIUM_REGISTRY_PRIVATE_HOSTS/,
  );
  assert.deepEqual(lookups, ['rebinding.example']);
  assert.deepEqual(requests, []);
});

test(
  'redirects are followed under the same rules, and a token is not sent to another host',
  withOpenssl,
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'guarded-'));
    const before = getCACertificates('default');
    t.after(() => {
      setDefaultCACertificates(before);
      rmSync(folder, { recursive: true, force: true });
    });
    const authority = makeAuthority(folder);
    setDefaultCACertificates(trustedCertificates(readCertificates(authority.file, 'X')));
    const inside = await serve(t, (_, response) => void response.end('inside'));
    let location = '';
    const away = await serve(t, (_, response) => void response.end('end'), authority.server);
    const answer: RequestListener = (request, response) =>
      void (request.url === '/end' ? response.end('end') : response.writeHead(302, { location }).end());
    const secure = await serve(t, answer, authority.server);
    const base = `https://127.0.0.1:${secure.port}`;
    const trusted = [`127.0.0.1:${secure.port}`, `127.0.0.1:${away.port}`];
    const token = { authorization: 'Bearer x' };
    location = '/end';
    assert.equal((await ask(`${base}/`, trusted, token)).body.toString(), 'end');
    assert.deepEqual(secure.requests, ['/ Bearer x', '/end Bearer x']);
    location = `https://127.0.0.1:${away.port}/else`;
    assert.equal((await ask(`${base}/`, trusted, token)).body.toString(), 'end');
    assert.deepEqual(away.requests, ['/else']);
    location = `http://127.0.0.1:${inside.port}/`;
    await assert.rejects(ask(`${base}/`, [...trusted, '127.0.0.1']), /redirects from https to http/);
    location = `https://127.0.0.1:${inside.port}/`;
    await assert.rejects(ask(`${base}/`, trusted), /has a private address/);
    location = '/';
    await assert.rejects(ask(`${base}/`, trusted), /redirects more than 5 times/);
    assert.deepEqual(inside.requests, []);
  },
);

test('a download that does not fit on the disk is not begun, and leaves no file', async (t) => {
  const folder = temporaryFolder(t, 'guarded-');
  const { port } = await serve(t, (_, response) => {
    response.writeHead(200, { 'content-length': 5e11 * 1000 });
    response.write('x');
  });
  const request = { url: `http://127.0.0.1:${port}/`, limits: { ...limits, bytes: 1e16 }, signal };
  await assert.rejects(fetchFile(request, join(folder, 'file')), { code: 'ENOSPC' });
  assert.deepEqual(readdirSync(folder), []);
});
