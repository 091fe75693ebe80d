import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { HTTPMethods } from 'fastify';
import { fillPath } from '#contract/client/fill-path.ts';
import { operations } from '#contract/operations.ts';
import { ErrorBody } from '#contract/schema/errors.ts';
import type { Operation } from '#contract/schema/operation.ts';
import { openOperations } from '#contract/system/operations.ts';
import { protocolBase, protocolRoutes } from '#protocol/routes.ts';
import { testApp } from '../../../testing/app.ts';
import { checkValue } from '../../../testing/check-reply.ts';
import { basic, pathOf, refusalIn, send } from '../../../testing/client.ts';
import { startTests } from '../../../testing/start.ts';
import { makeWebFolder, scriptFile } from '../../../testing/web-folder.ts';

const { app, ok, sql } = await startTests({ ENVARIUM_WEB_DIR: makeWebFolder() });

const id = randomUUID();
const ids = {
  id,
  deploymentLogId: id,
  organizationId: id,
  environmentId: id,
  scope: 'project',
  scopeId: id,
  vcsType: 'github',
  credentialId: id,
  credentialsId: id,
  scanId: id,
};

/** Every path of the contract and of the agent protocol, and some that lead nowhere. */
const closed = [
  ...(Object.values(operations) as Operation[])
    .filter(({ needs }) => needs !== 'nothing')
    .map((operation) => ({
      method: operation.method,
      url: pathOf(operation, {
        params: {
          ...ids,
          name: 'tf:plan',
          agentKey: 'k',
          secretId: id,
          userId: id,
          tokenId: id,
          projectId: id,
          assignmentId: id,
          endpointId: id,
        },
      }),
    })),
  ...Object.values(protocolRoutes).map(({ method, path }) => ({
    method,
    url: `${protocolBase}${fillPath(path, { jobId: '1', attempt: '1', name: '1' })}`,
  })),
  { method: 'GET', url: '/api/nothing' },
  { method: 'POST', url: '/api/environments/x/nothing' },
  { method: 'GET', url: `${protocolBase}/nothing` },
  { method: 'GET', url: '/nothing' },
  { method: 'DELETE', url: '/healthz' },
] as { method: HTTPMethods; url: string }[];

const wrong: Record<string, string | undefined> = {
  'no credentials': undefined,
  'an unknown key': basic({ id: 'nobody', secret: app.admin.secret }),
  'a wrong secret': basic({ id: app.admin.id, secret: 'x'.repeat(43) }),
  'an empty secret': basic({ id: app.admin.id, secret: '' }),
  'a NUL character': basic({ id: 'adm\0in', secret: 'x\0' }),
  'another scheme': `Digest ${app.admin.secret}`,
  'no base64': 'Basic %%%',
};

for (const [what, authorization] of Object.entries(wrong)) {
  test(`every route that is not in the written list answers 401 to ${what}`, async () => {
    for (const { method, url } of closed) {
      const response = await app.app.inject({
        method,
        url,
        headers: authorization === undefined ? {} : { authorization },
      });
      assert.equal(response.statusCode, 401, `${method} ${url}: ${response.body}`);
      assert.match(String(response.headers['www-authenticate']), /^Basic realm=/);
      checkValue(ErrorBody, refusalIn(response), `${method} ${url}`);
    }
  });
}

test('the routes on the list answer everybody', async () => {
  for (const { method, path } of openOperations) {
    const url = path.replaceAll(/\{\w+\}/g, 'x').replace('assets/*', scriptFile);
    const { statusCode, body } = await app.app.inject({ method, url });
    // Operations that need a body, a sign-in, a provider or a setting are reached, and refused without it.
    const isReached =
      /\/(auth\/(oidc|cli)|auth\/(sign-in|password-reset)|invites|\.well-known)/.test(path) &&
      [400, 403, 404].includes(statusCode);
    assert.ok(isReached || (method === 'GET' && statusCode === 200), `${path} ${body}`);
  }
});

test('a browser does not open a password prompt of its own', async () => {
  for (const headers of [{ 'sec-fetch-mode': 'cors' }, { cookie: 'session=1' }] as Record<string, string>[]) {
    const response = await app.app.inject({ url: '/api/organizations', headers });
    assert.deepEqual([response.statusCode, response.headers['www-authenticate']], [401, undefined]);
  }
});

test('credentials come as Basic and as Bearer with the same content', async () => {
  const content = basic(app.admin).slice('Basic '.length);
  for (const authorization of [
    `Basic ${content}`,
    `basic  ${content} `,
    `Bearer ${content}`,
    `bearer ${content.replaceAll('=', '')}`,
  ]) {
    assert.equal(
      (await app.app.inject({ url: '/api/organizations', headers: { authorization } })).statusCode,
      200,
      authorization,
    );
  }
});

test('callers with credentials learn that a path is unknown', async () => {
  const response = await send(app, { url: '/api/nothing?x=1' });
  assert.equal(response.statusCode, 404);
  assert.match(response.json<ErrorBody>().message, /GET \/api\/nothing/);
});

test('a malformed or far too long path is refused in the common form', async () => {
  for (const url of [
    '/api/environments/%ZZ',
    '/api/environments/%00',
    `/api/environments/${'a'.repeat(5000)}`,
    '/api/deployments/%00/steps/%00/log',
  ]) {
    const response = await send(app, { url });
    assert.ok(
      [400, 404, 414].includes(response.statusCode),
      `${url}: ${response.statusCode} ${response.body}`,
    );
    checkValue(ErrorBody, response.json(), url);
  }
});

test('text with a NUL character is refused everywhere', async () => {
  for (const url of [
    '/api/environments?name=a%00',
    '/api/environments?searchText=%00',
    '/api/deployments/x/steps/a%00/log',
  ]) {
    assert.ok([400, 404].includes((await send(app, { url })).statusCode), url);
  }
});

test('each request gets an id of the service, whatever id it sends', async () => {
  for (const id of ['client-1', 'no good\tid']) {
    const response = await send(app, { url: '/api/nothing', headers: { 'x-request-id': id } });
    assert.match(String(response.headers['x-request-id']), /^[0-9a-f-]{36}$/);
    assert.equal(response.json<ErrorBody>().requestId, response.headers['x-request-id']);
  }
});

test('a trailing slash is ignored', async () => {
  assert.equal((await send(app, { url: '/api/organizations/' })).statusCode, 200);
  assert.equal((await send(app, { url: `/api/organizations/${app.organizationId}/` })).statusCode, 200);
});

test('an internal error shows its request id and nothing else', async () => {
  await sql('alter table git_token rename to git_token_away');
  const response = await send(app, { url: `/api/tokens?organizationId=${app.organizationId}` });
  await sql('alter table git_token_away rename to git_token');
  assert.equal(response.statusCode, 500);
  assert.deepEqual(Object.keys(response.json()), ['code', 'message', 'requestId']);
  assert.doesNotMatch(response.body, /git_token|relation/);
  assert.match(app.logged.at(-1) ?? '', /git_token/);
});

test('the description of the interface is served as it is generated', async () => {
  const document = await ok('getOpenApi', { as: null });
  assert.equal(document.openapi, '3.1.0');
});

test('readiness reports that the database does not respond', async () => {
  const alone = await testApp();
  assert.equal((await alone.app.inject('/readyz')).statusCode, 200);
  await alone.database.reserved.destroy();
  assert.equal((await alone.app.inject('/readyz')).statusCode, 503);
  assert.equal((await alone.app.inject('/healthz')).statusCode, 200);
});

test('too many requests for one path are refused with 429; other paths still work', async () => {
  const limited = await testApp({ ENVARIUM_RATE_LIMIT: '3' });
  const statuses: number[] = [];
  for (let index = 0; index < 4; index++)
    statuses.push((await send(limited, { url: `/api/organizations?x=${index}` })).statusCode);
  assert.deepEqual(statuses, [200, 200, 200, 429]);
  const refusal = await send(limited, { url: '/api/organizations' });
  assert.deepEqual(
    [refusal.json<ErrorBody>().code, refusal.headers['content-type']],
    ['rate_limited', 'application/json; charset=utf-8'],
  );
  checkValue(ErrorBody, refusal.json(), '429');
  assert.ok(Number(refusal.headers['retry-after']) > 0);
  assert.equal((await send(limited, { url: '/api/projects' })).statusCode, 200);
});

test('the rate limit applies to guessed secrets at the state protocol, too', async () => {
  const limited = await testApp({ ENVARIUM_STATE_RATE_LIMIT: '2' });
  const url = `/state/v1/environments/${limited.projectId}`;
  const statuses: number[] = [];
  for (let index = 0; index < 3; index++) statuses.push((await send(limited, { url }, null)).statusCode);
  assert.deepEqual(statuses, [401, 401, 429]);
});

test('callers behind a trusted proxy have separate limits; other callers cannot fake their address', async () => {
  const statusesOf = async (settings: Record<string, string>) => {
    const limited = await testApp({ ENVARIUM_RATE_LIMIT: '1', ...settings });
    const from = (caller: string) =>
      send(limited, { url: '/api/organizations', headers: { 'x-forwarded-for': caller } });
    return [
      (await from('192.0.2.1')).statusCode,
      (await from('192.0.2.2')).statusCode,
      (await from('192.0.2.1')).statusCode,
    ];
  };
  assert.deepEqual(await statusesOf({ ENVARIUM_TRUSTED_PROXIES: '127.0.0.0/8' }), [200, 200, 429]);
  assert.deepEqual(await statusesOf({ ENVARIUM_TRUSTED_PROXIES: '10.0.0.1' }), [200, 429, 429]);
  assert.deepEqual(await statusesOf({}), [200, 429, 429]);
});

test('an operation of another version is unknown', async () => {
  for (const [method, url] of [
    ['GET', '/api/cloud/resources'],
    ['GET', '/api/cloud/configurations?organizationId=a'],
    ['GET', '/api/cloud/configurations'],
  ] as const) {
    const response = await send(app, { method, url });
    assert.equal(response.statusCode, 404, url);
    const path = url.split('?')[0];
    assert.match(response.json().message, new RegExp(`^There is no GET ${path};`));
  }
});

test('a whole number in a query has only one accepted form', async () => {
  for (const limit of ['0x10', '1e1', '+5', ' 5', '5.0', '05', '', '٣']) {
    const query = `?limit=${encodeURIComponent(limit)}`;
    const response = await send(app, { url: `/api/environments${query}` });
    assert.equal(response.statusCode, 400, limit);
    assert.match(response.json().message, /^\/query\/limit must be a whole number/, limit);
  }
  assert.equal((await send(app, { url: '/api/environments?limit=5&offset=0' })).statusCode, 200);
});

test('all spellings of a path share one rate limit', async () => {
  const limited = await testApp({ ENVARIUM_RATE_LIMIT: '2' });
  const id = randomUUID();
  const spellings = [
    `/api/environments/${id}`,
    `/api/environments/${id}/`,
    `/api/environments/%${id.charCodeAt(0).toString(16)}${id.slice(1)}`,
    `/%61pi/environments/${id}`,
    `/api/environments/${id}?x=1`,
    `/api/environments/${id}/?`,
  ];
  const statuses: number[] = [];
  for (const url of spellings) statuses.push((await send(limited, { url })).statusCode);
  assert.deepEqual(statuses, [404, 404, 429, 429, 429, 429]);
  assert.equal((await send(limited, { url: `/api/environments/${randomUUID()}` })).statusCode, 404);
});
