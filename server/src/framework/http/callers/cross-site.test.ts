import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ErrorBody } from '#contract/schema/errors.ts';
import { startTests } from '../../../../testing/start.ts';

const { app, send } = await startTests({
  ENVARIUM_BASE_URL: 'https://envarium.example.com/envarium',
  ENVARIUM_ALLOWED_ORIGINS: 'https://portal.example.com',
});

async function post(headers: Record<string, string>): Promise<number> {
  const response = await send({
    method: 'POST',
    url: '/api/projects',
    headers: { 'content-type': 'text/plain', ...headers },
    payload: JSON.stringify({ organizationId: app.organizationId, name: `p${Math.random()}` }),
  });
  if (response.statusCode === 403)
    assert.match(response.json<ErrorBody>().message, /ENVARIUM_ALLOWED_ORIGINS/);
  return response.statusCode;
}

test('changes from pages of other sites are refused, also with valid credentials', async () => {
  for (const headers of [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'http://envarium.example.com' },
    { origin: 'https://portal.example.com.evil.example' },
  ] as Record<string, string>[])
    assert.equal(await post(headers), 403, JSON.stringify(headers));
});

test('changes from programs, from pages of the service and from allowed origins are accepted', async () => {
  for (const headers of [
    {},
    { 'sec-fetch-site': 'same-origin', origin: 'https://elsewhere-behind-a-proxy.example' },
    { 'sec-fetch-site': 'none' },
    { origin: 'http://localhost:80', host: 'localhost' },
    { origin: 'https://envarium.example.com', 'sec-fetch-site': 'same-site' },
    { origin: 'https://portal.example.com', 'sec-fetch-site': 'cross-site' },
  ] as Record<string, string>[])
    assert.equal(await post(headers), 200, JSON.stringify(headers));
});

test('no read is refused because of the page that sends it', async () => {
  const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
  const response = await send({ url: '/api/projects', headers });
  assert.deepEqual([response.statusCode, response.headers['access-control-allow-origin']], [200, undefined]);
});

test('no browser is made to ask for credentials that it would send along from any page', async () => {
  for (const headers of [
    { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' },
    { origin: 'https://evil.example' },
    { accept: 'text/html,application/xhtml+xml' },
  ] as Record<string, string>[]) {
    const response = await send({ url: '/api/projects', headers }, null);
    assert.deepEqual([response.statusCode, response.headers['www-authenticate']], [401, undefined]);
  }
});
