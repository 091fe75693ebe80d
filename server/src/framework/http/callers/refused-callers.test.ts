import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fillPath } from '#contract/client/fill-path.ts';
import type { ErrorBody } from '#contract/schema/errors.ts';
import { protocolBase, protocolRoutes } from '#protocol/routes.ts';
import { testAgent } from '../../../../testing/agent.ts';
import { testApp } from '../../../../testing/app.ts';
import { basic, send } from '../../../../testing/client.ts';
import { auditRefusedCallers } from '../../../service/audit-log/audit-refused-callers.ts';
import { countedAddress } from './refused-callers.ts';

const wrong = (id: string) => ({ authorization: basic({ id, secret: 'planted-wrong-secret' }) });

test('wrong credentials of one address have one limit, whatever they are sent to and however it is spelled', async () => {
  const app = await testApp({ ENVARIUM_FAILURE_LIMIT: '6' });
  const ids = ['admin', 'nobody', 'ENVARIUM_DEFAULT'];
  const urls = [
    '/api/organizations',
    '/api/%6frganizations/',
    `/api/environments/${app.projectId}`,
    `/state/v1/environments/${app.projectId}`,
    `${protocolBase}${fillPath(protocolRoutes.getState.path, { jobId: '1', attempt: '1' })}`,
    '/nothing',
    '/api/projects',
    `${protocolBase}/nothing`,
    '/api/organizations',
  ];
  const statuses: number[] = [];
  for (const [index, url] of urls.entries())
    statuses.push((await send(app, { url, headers: wrong(ids[index % 3] ?? '') }, null)).statusCode);
  assert.deepEqual(statuses, [401, 401, 401, 401, 401, 401, 429, 429, 429]);
  const refusal = await send(app, { url: '/api/organizations' }, null);
  assert.equal(refusal.json<ErrorBody>().code, 'rate_limited');
  assert.ok(Number(refusal.headers['retry-after']) > 0);
  app.advance(61);
  assert.equal((await send(app, { url: '/api/organizations' })).statusCode, 200);
});

test('guesses that are sent at once are not checked more often', async () => {
  const app = await testApp({ ENVARIUM_FAILURE_LIMIT: '5' });
  const sent = Array.from({ length: 100 }, () =>
    send(app, { url: '/api/organizations', headers: wrong('admin') }, null),
  );
  const statuses = (await Promise.all(sent)).map(({ statusCode }) => statusCode);
  assert.equal(statuses.filter((status) => status === 401).length, 5);
  assert.equal(statuses.filter((status) => status === 429).length, 95);
});

test('a key that was valid from an address is still accepted there while others guess', async () => {
  const app = await testApp({ ENVARIUM_FAILURE_LIMIT: '3' });
  const agent = await testAgent(app);
  assert.equal((await send(app, { url: '/api/organizations' })).statusCode, 200);
  const late = await app.addKey({ [app.organizationId]: 'Admin' });
  for (let guess = 0; guess < 5; guess++)
    await send(app, { url: '/api/organizations', headers: wrong('admin') }, null);
  assert.equal((await send(app, { url: '/api/organizations' })).statusCode, 200);
  await agent.heartbeat([]);
  assert.equal((await send(app, { url: '/api/organizations' }, late)).statusCode, 429);
  const elsewhere = { url: '/api/organizations', remoteAddress: '192.0.2.7' };
  assert.equal((await send(app, elsewhere, late)).statusCode, 200);
  await app.database.pool.query('delete from api_key where id = $1', [app.admin.id]);
  const statuses: number[] = [];
  for (let call = 0; call < 2; call++)
    statuses.push((await send(app, { url: '/api/organizations' })).statusCode);
  assert.deepEqual(statuses, [401, 429], 'a key that was deleted is no longer known');
});

test('refused credentials are logged and recorded without the secret, few rows for many attempts', async () => {
  const app = await testApp({ ENVARIUM_FAILURE_LIMIT: '3' });
  for (let guess = 0; guess < 50; guess++)
    await send(app, { url: '/api/organizations', headers: wrong('admin') }, null);
  const swapped = { authorization: basic({ id: 'planted-wrong-secret', secret: 'admin' }) };
  for (let address = 1; address <= 40; address++)
    await send(app, { url: '/api/projects', headers: swapped, remoteAddress: `192.0.2.${address}` }, null);
  const lines = app.logged.filter((line) => line.includes('credentials'));
  assert.equal(lines.length, 3 + 1 + 40, lines.join(''));
  assert.match(lines[0] ?? '', /"level":40.*"address":"127.0.0.1".*"keyId":"admin"/);
  await auditRefusedCallers(app.context);
  await auditRefusedCallers(app.context);
  const { rows } = await app.database.pool.query<{ entity_id: string; details: unknown }>(
    "select entity_id, details from audit_event where action = 'credentials.refused' and entity = 'address' order by number",
  );
  assert.equal(rows.length, 20);
  assert.deepEqual(rows[0], {
    entity_id: '127.0.0.1',
    details: { failures: 3, unchecked: 47, keyIds: ['admin'] },
  });
  assert.deepEqual(rows.at(-1), {
    entity_id: 'others',
    details: { addresses: 22, failures: 22, unchecked: 0 },
  });
  const { rows: tried } = await app.database.pool.query(
    "select organization_id, entity_id, details from audit_event where entity = 'apiKey' order by number",
  );
  assert.deepEqual(tried, [
    {
      organization_id: app.organizationId,
      entity_id: 'admin',
      details: { addresses: ['127.0.0.1'], count: 1 },
    },
  ]);
  assert.doesNotMatch(JSON.stringify([rows, tried]) + app.logged.join(''), /planted/);
});

test('probes of health and readiness are answered, however often credentials were refused', async () => {
  const app = await testApp({ ENVARIUM_FAILURE_LIMIT: '1', ENVARIUM_RATE_LIMIT: '1' });
  for (let guess = 0; guess < 5; guess++)
    await send(app, { url: '/api/projects', headers: wrong('admin') }, null);
  for (let probe = 0; probe < 5; probe++)
    for (const url of ['/healthz', '/readyz'])
      assert.equal((await send(app, { url }, null)).statusCode, 200, url);
});

test('requests without any credentials guess nothing: a page may ask whether a user is signed in', async () => {
  const app = await testApp({ ENVARIUM_FAILURE_LIMIT: '2' });
  for (let visit = 0; visit < 5; visit++)
    assert.equal((await send(app, { url: '/api/users/me' }, null)).statusCode, 401);
  const guess = { url: '/api/users/me', headers: wrong('admin') };
  const statuses = [];
  for (let at = 0; at < 3; at++) statuses.push((await send(app, guess, null)).statusCode);
  assert.deepEqual(statuses, [401, 401, 429]);
});

test('an address of IPv6 counts with its network, one of IPv4 in any form as itself', () => {
  const pairs = [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:0:1::5', '2001:db8:0:1::/64'],
    ['2001:db8:0:1:ffff:ffff:ffff:ffff', '2001:db8:0:1::/64'],
    ['2001:0db8::1', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
  ] as const;
  for (const [ip, counted] of pairs) assert.equal(countedAddress(ip), counted, ip);
});
