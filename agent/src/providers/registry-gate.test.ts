import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { startRegistryGate } from './registry-gate.ts';

const token = 'glpat-with/slash';
const host = 'registry.example';

async function startRegistry(t: TestContext, answer: RequestListener) {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.url} ${request.headers.authorization ?? 'nothing'}`);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const gate = await startRegistryGate({
    tokens: new Map([[host, token]]),
    services: { [host]: { 'modules.v1': `${url}/modules/`, 'providers.v1': `${url}/providers/` } },
    trusted: new Set(['127.0.0.1']),
    signal: new AbortController().signal,
  });
  t.after(() => gate[Symbol.asyncDispose]());
  const [modules = '', providers = ''] = ['modules.v1', 'providers.v1'].map(
    (name) => gate.hosts[host]?.[name],
  );
  return { url, requests, modules, providers };
}

test('a module whose address contains the token is downloaded by the agent', async (t) => {
  const { modules, requests } = await startRegistry(t, (request, response) => {
    if (request.url?.startsWith('/files/')) return void response.end('the archive');
    const location = `/files/one.tgz?token=${encodeURIComponent(token)}&archive=tgz`;
    response.writeHead(204, { 'x-terraform-get': location }).end();
  });
  const { headers } = await fetch(`${modules}acme/one/any/1.0.0/download`);
  const location = headers.get('x-terraform-get') ?? '';
  assert.doesNotMatch(location, /glpat/);
  assert.match(location, /\/package\/0\/one\.tgz\?archive=tgz$/);
  assert.equal(await (await fetch(location)).text(), 'the archive');
  assert.equal(requests.at(-1), `/files/one.tgz?token=${encodeURIComponent(token)}&archive=tgz nothing`);
});

test('a module that the registry itself serves for its token is downloaded by the agent', async (t) => {
  const { modules, requests } = await startRegistry(
    t,
    (request, response) =>
      void response.end(
        request.url?.startsWith('/files/')
          ? 'the archive'
          : JSON.stringify({ location: '/files/one', use_registry_credentials: true }),
      ),
  );
  const reply = (await (await fetch(`${modules}acme/one/any/1.0.0/download`)).json()) as Record<
    string,
    string
  >;
  assert.equal(reply['use_registry_credentials'], false);
  assert.equal(await (await fetch(reply['location'] ?? '')).text(), 'the archive');
  assert.equal(requests.at(-1), `/files/one Bearer ${token}`);
});

test('relative addresses refer to the registry, and others are unchanged', async (t) => {
  let location = '/files/one.zip';
  const { url, modules, providers } = await startRegistry(t, (request, response) => {
    if (request.url?.startsWith('/modules')) return void response.end(JSON.stringify({ location }));
    response.end(JSON.stringify({ download_url: 'a.zip', shasums_url: 'https://files.example/sums' }));
  });
  const replyOf = async (address: string) => (await (await fetch(address)).json()) as Record<string, string>;
  const download = `${modules}acme/one/any/1.0.0/download`;
  assert.equal((await replyOf(download))['location'], `${url}/files/one.zip`);
  location = 'git::https://git.example/one.git?ref=v1';
  assert.equal((await replyOf(download))['location'], location);
  location = `git::https://oauth2:${token}@git.example/one.git`;
  assert.equal((await fetch(download)).status, 502);
  assert.deepEqual(await replyOf(`${providers}acme/one/1.0.0/download/linux/amd64`), {
    download_url: `${url}/providers/acme/one/1.0.0/download/linux/a.zip`,
    shasums_url: 'https://files.example/sums',
  });
});

test('the gate requests nothing but lists and addresses of its hosts', async (t) => {
  const { modules, requests } = await startRegistry(t, (_, response) => void response.end('{}'));
  const base = modules.replace(/[^/]+\/modules\.v1\/$/, '');
  for (const path of [
    `${host}/modules.v1/a/../../admin`,
    `${host}/modules.v1/a?x=y`,
    `${host}/tfe.v2/a`,
    'other.example/modules.v1/a',
    'package/0/x',
  ])
    assert.equal((await fetch(`${base}${path}`)).status, 404, path);
  assert.equal((await fetch(`${modules}a`, { method: 'POST' })).status, 404);
  assert.deepEqual(requests, []);
});
