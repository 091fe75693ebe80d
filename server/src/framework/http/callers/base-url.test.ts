import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { basic } from '../../../../testing/client.ts';
import { startTests } from '../../../../testing/start.ts';

const { app, organizationId } = await startTests();
const address = new URL(await app.listen());
let number = 0;

/** Sends a request with any Host header. */
function post(path: string, host: string, body: unknown): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { host, authorization: basic(app.admin), 'content-type': 'application/json' };
    const { hostname, port } = address;
    const sent = request({ hostname, port, path, method: 'POST', headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve(text)).on('error', reject);
    });
    sent.on('error', reject).end(JSON.stringify(body));
  });
}

async function linkFor(host: string): Promise<string> {
  const body = { email: `person-${++number}@example.com`, organizationId };
  const { link } = JSON.parse(await post('/api/invites', host, body)) as { link?: string };
  return link ?? assert.fail('no link');
}

test('links do not follow a Host header that names another machine', async () => {
  const foreign = ['evil.example', 'evil.example:443', `localhost.evil.example:${address.port}`];
  for (const host of foreign)
    assert.equal(new URL(await linkFor(host)).host, `127.0.0.1:${address.port}`, host);
  for (const host of [`localhost:${address.port}`, '127.0.0.1:8443', `[::1]:${address.port}`])
    assert.equal(new URL(await linkFor(host)).host, host);
});

test('neither do the addresses that identity providers get', async () => {
  const made = await post(`/api/organizations/${organizationId}/scim-tokens`, 'evil.example', {});
  const { url } = JSON.parse(made) as { url: string };
  assert.equal(new URL(url).host, `127.0.0.1:${address.port}`, made);
});
