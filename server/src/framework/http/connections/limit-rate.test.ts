import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { fillPath } from '#contract/client/fill-path.ts';
import { protocolBase, protocolRoutes } from '#protocol/routes.ts';
import { type TestApp, testApp } from '../../../../testing/app.ts';
import { basic, send } from '../../../../testing/client.ts';
import { createIdle } from '../../../../testing/environment.ts';

async function statuses(app: TestApp, times: number, options: Parameters<typeof send>[1]): Promise<number[]> {
  const found: number[] = [];
  for (let index = 0; index < times; index++) found.push((await send(app, options)).statusCode);
  return found;
}

test('every answer says how many requests are left, under both usual names', async () => {
  const app = await testApp({ ENVARIUM_RATE_LIMIT: '2' });
  const headersOf = async () => {
    const { statusCode, headers } = await send(app, { url: '/api/organizations' });
    const values = ['limit', 'remaining', 'reset'].map((name) => {
      assert.equal(headers[`ratelimit-${name}`], headers[`x-ratelimit-${name}`], name);
      return Number(headers[`ratelimit-${name}`]);
    });
    return { statusCode, values, retryAfter: headers['retry-after'] };
  };
  assert.deepEqual(await headersOf(), { statusCode: 200, values: [2, 1, 60], retryAfter: undefined });
  assert.deepEqual(await headersOf(), { statusCode: 200, values: [2, 0, 60], retryAfter: undefined });
  app.advance(20);
  assert.deepEqual(await headersOf(), { statusCode: 429, values: [2, 0, 40], retryAfter: '40' });
  app.advance(41);
  assert.equal((await headersOf()).statusCode, 200);
  assert.equal((await app.app.inject('/healthz')).headers['x-ratelimit-limit'], undefined);
});

test('exactly the number of the setting is accepted: 1000 by default', async () => {
  const app = await testApp({ ENVARIUM_RATE_LIMIT: '' });
  const found = await statuses(app, 1001, { url: '/api/no-such-path' });
  assert.deepEqual([found.indexOf(429), found.filter((status) => status === 404).length], [1000, 1000]);
});

test('addresses, methods and paths are counted apart; an address of IPv6 with its network', async () => {
  const app = await testApp({ ENVARIUM_RATE_LIMIT: '1' });
  const url = `/api/projects/${app.projectId}`;
  assert.deepEqual(await statuses(app, 2, { url }), [200, 429]);
  assert.deepEqual(await statuses(app, 2, { url, method: 'PUT' }), [400, 429]);
  assert.deepEqual(await statuses(app, 2, { url: `/api/projects/${randomUUID()}` }), [404, 429]);
  assert.deepEqual(await statuses(app, 2, { url, remoteAddress: '192.0.2.9' }), [200, 429]);
  assert.deepEqual(await statuses(app, 1, { url, remoteAddress: '::ffff:192.0.2.9' }), [429]);
  assert.deepEqual(await statuses(app, 1, { url, remoteAddress: '2001:db8::1' }), [200]);
  assert.deepEqual(await statuses(app, 1, { url, remoteAddress: '2001:db8::2' }), [429]);
  assert.deepEqual(await statuses(app, 1, { url, remoteAddress: '2001:db8:0:1::2' }), [200]);
});

test('paths that do not exist share one limit', async () => {
  const app = await testApp({ ENVARIUM_RATE_LIMIT: '2' });
  const found: number[] = [];
  for (const url of ['/api/nothing', '/nothing', '/api/nothing/2'])
    found.push((await send(app, { url })).statusCode);
  assert.deepEqual(found, [404, 404, 429]);
});

test('agents behind one address are counted apart from each other and from people', async () => {
  const app = await testApp({ ENVARIUM_AGENT_RATE_LIMIT: '2', ENVARIUM_RATE_LIMIT: '1' });
  const url = `${protocolBase}${protocolRoutes.heartbeat.path}`;
  const secret = 'x'.repeat(43);
  const call = async (id: string, agent: string) => {
    const headers = { authorization: basic({ id, secret }), 'x-envarium-agent': agent };
    return (await send(app, { url, method: 'POST', headers }, null)).statusCode;
  };
  const agents = Array.from({ length: 100 }, () => randomUUID());
  for (const agent of agents)
    for (const status of [401, 401, 429]) assert.equal(await call('shared', agent), status);
  assert.equal(await call('other', agents[0] ?? ''), 401);
  const ofOtherIds: number[] = [];
  for (const agent of ['', 'x', 'x'.repeat(36)]) ofOtherIds.push(await call('shared', agent));
  assert.deepEqual(ofOtherIds, [401, 401, 429], 'only ids of agents are counted apart');
  assert.deepEqual(await statuses(app, 2, { url: '/api/organizations' }), [200, 429]);
  const blob = fillPath(protocolRoutes.getState.path, { jobId: randomUUID(), attempt: '1' });
  assert.deepEqual(await statuses(app, 3, { url: `${protocolBase}${blob}` }), [401, 401, 429]);
});

test('states of running tools are counted by key, and no one uses up the share of a key without its secret', async () => {
  const app = await testApp({ ENVARIUM_STATE_RATE_LIMIT: '2', ENVARIUM_RATE_LIMIT: '1' });
  const { id } = await createIdle(app);
  const other = await app.addKey({ [app.organizationId]: 'Admin' });
  const url = `/state/v1/environments/${id}`;
  const guess = { authorization: basic({ id: app.admin.id, secret: 'y'.repeat(43) }) };
  for (let index = 0; index < 5; index++) await send(app, { url, headers: guess }, null);
  assert.deepEqual(await statuses(app, 3, { url }), [204, 204, 429]);
  const spelled = `bearer   ${basic(app.admin).slice('Basic '.length)}`;
  assert.equal((await send(app, { url, headers: { authorization: spelled } }, null)).statusCode, 429);
  assert.equal((await send(app, { url, remoteAddress: '192.0.2.4' })).statusCode, 429);
  assert.equal((await send(app, { url }, other)).statusCode, 204);
});

test('event streams are counted by key', async () => {
  const app = await testApp({ ENVARIUM_STREAM_RATE_LIMIT: '1', ENVARIUM_RATE_LIMIT: '1' });
  const url = `/api/organizations/${app.organizationId}/events`;
  const other = await app.addKey({ [app.organizationId]: 'Admin' });
  const ask = async (as: Parameters<typeof send>[2]) =>
    (await send(app, { url, method: 'HEAD' }, as)).statusCode;
  assert.deepEqual([await ask(app.admin), await ask(app.admin), await ask(other)], [200, 429, 200]);
  const opened = await send(app, { url, remoteAddress: '192.0.2.4', method: 'HEAD' });
  assert.equal(opened.statusCode, 429, 'from wherever the key is used');
  assert.deepEqual(await statuses(app, 2, { url: '/api/projects' }), [200, 429]);
});
