import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import fastify, { type InjectOptions } from 'fastify';
import { stateProtocol, stateProtocolBase } from '#contract/state/operations.ts';
import { stateFile } from '../../../testing/agent.ts';
import { startAgentTests } from '../../../testing/start.ts';
import { fastifyPath } from '../../framework/http/paths/known-methods.ts';
import { type FirstKey } from '../../start/bootstrap.ts';
import { stateProtocolRoutes } from './state-protocol.ts';

const tests = await startAgentTests({ ENVARIUM_STATE_LIMIT_MB: '1' });
const { app, send, ok, refused, sql, createActive, createIdle, deploy, deploymentOf, forgetWork } = tests;
const colleague = await app.addKey({ [app.organizationId]: 'Admin' });
const member = await app.addKey({ [app.organizationId]: 'User' });
const outsider = await app.addKey();
beforeEach(() => forgetWork());

const info = (id: string, more: object = {}) =>
  JSON.stringify({
    ID: id,
    Operation: 'OperationTypeApply',
    Info: '',
    Who: 'me@laptop',
    Version: '1.11.4',
    Created: '2026-01-01T00:00:00Z',
    Path: '',
    ...more,
  });

/** One call of the protocol. @param path behind the environment's id */
function call(
  method: string,
  environmentId: string,
  { path = '', body = undefined as string | undefined, as = app.admin as FirstKey | null, headers = {} } = {},
) {
  const options: InjectOptions = {
    method: method as 'GET',
    url: `/state/v1/environments/${environmentId}${path}`,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { payload: body }),
  };
  return send(options, as);
}

const statusOf = async (...input: Parameters<typeof call>) => (await call(...input)).statusCode;
const versions = (id: string) => ok('listStateVersions', { id });
const serials = async (id: string) => (await versions(id)).map(({ serial, standing }) => [serial, standing]);

test('a state is read, locked, written under the lock, unlocked and deleted; each lock is one listed version', async () => {
  const { id } = await createIdle();
  const none = await call('GET', id);
  assert.deepEqual([none.statusCode, none.body], [204, '']);
  const locked = await call('LOCK', id, { body: info('lock-1') });
  assert.deepEqual([locked.statusCode, locked.json<{ ID: string }>().ID], [200, 'lock-1']);
  for (const serial of [0, 1, 2]) {
    const bytes = stateFile(serial, ['a']);
    const md5 = createHash('md5').update(bytes).digest('base64');
    assert.equal(
      await statusOf('POST', id, { path: '?ID=lock-1', body: bytes, headers: { 'content-md5': md5 } }),
      200,
    );
  }
  assert.equal(
    await statusOf('POST', id, { path: '?ID=lock-1', body: stateFile(2, ['a']) }),
    200,
    'the same again',
  );
  assert.equal(await statusOf('UNLOCK', id, { body: info('lock-1') }), 200);
  assert.equal(await statusOf('UNLOCK', id, { body: info('lock-1') }), 200, 'an answer that was lost');
  const read = await call('GET', id);
  assert.deepEqual([read.statusCode, read.body], [200, stateFile(2, ['a'])]);
  assert.equal(read.headers['content-length'], String(read.body.length), 'a shortened reply is noticed');
  assert.equal(read.headers['content-md5'], undefined, 'which would need the whole state in memory');
  const [only, ...more] = await versions(id);
  assert.deepEqual(
    [more.length, only?.origin, only?.createdBy, only?.serial, only?.terraformVersion],
    [0, 'http', 'admin', 2, '1.11.4'],
  );
  assert.equal(await statusOf('LOCK', id, { body: info('lock-2') }), 200);
  assert.equal(await statusOf('POST', id, { path: '?ID=lock-2', body: stateFile(3) }), 200);
  assert.equal(await statusOf('DELETE', id), 200);
  assert.equal(await statusOf('UNLOCK', id, { body: info('lock-2') }), 200);
  assert.equal(await statusOf('GET', id), 204);
  assert.deepEqual(await serials(id), [
    [3, 'superseded'],
    [2, 'superseded'],
  ]);
  const rows = await sql('select distinct action from audit_event where entity_id = $1 order by action', id);
  assert.deepEqual(
    rows.map(({ action }) => action as string).filter((action) => action.startsWith('state.')),
    ['state.cleared', 'state.locked', 'state.read', 'state.unlocked', 'state.written'],
  );
});

test('the lock is also acquired and released by PUT, POST and DELETE of its own path', async () => {
  const { id } = await createIdle();
  for (const method of ['PUT', 'POST']) {
    assert.equal(await statusOf(method, id, { path: '/lock', body: info('x') }), 200);
    assert.equal(await statusOf('LOCK', id, { body: info('y') }), 423);
    assert.equal(await statusOf('DELETE', id, { path: '/lock', body: info('x') }), 200);
  }
});

test('a held lock names its holder, and keeps everybody else from writing', async () => {
  const { id } = await createIdle();
  await call('LOCK', id, { body: info('mine') });
  assert.equal(await statusOf('LOCK', id, { body: info('mine') }), 200, 'the same call again');
  const refusal = await call('LOCK', id, { body: info('theirs'), as: colleague });
  assert.equal(refusal.statusCode, 423);
  const found = refusal.json<Record<string, string>>();
  assert.deepEqual(
    [found['ID'], found['Who'], found['Operation']],
    ['mine', 'me@laptop', 'OperationTypeApply'],
  );
  const writes: Parameters<typeof call>[2][] = [
    { body: stateFile(1) },
    { body: stateFile(1), path: '?ID=mine', as: colleague },
    { body: stateFile(1), as: colleague },
  ];
  for (const write of writes) assert.equal(await statusOf('POST', id, write), 423);
  assert.equal(await statusOf('DELETE', id, { as: colleague }), 423);
  await refused('importState', 409, /been locked by me@laptop \(key admin\)/, { id, body: stateFile(1) });
  assert.deepEqual(await versions(id), []);
  const mismatch = await call('UNLOCK', id, { body: info('other') });
  assert.deepEqual([mismatch.statusCode, /its id is mine, not other/.test(mismatch.body)], [409, true]);
});

test('the lock info of a tool is kept as far as it can be stored', async () => {
  const { id } = await createIdle();
  const halved = `${'a'.repeat(999)}\u{1F600}`;
  assert.equal(await statusOf('LOCK', id, { body: info('odd', { Info: halved, Who: 'me\0\ud800' }) }), 200);
  assert.equal((await ok('getStateLock', { id }))?.who, 'me\uFFFD');
});

test('a tool that reuses a lock id gets a version for each lock', async () => {
  const { id } = await createIdle();
  for (const serial of [1, 2]) {
    await call('LOCK', id, { body: info('always') });
    assert.equal(await statusOf('POST', id, { path: '?ID=always', body: stateFile(serial, ['a']) }), 200);
    await call('UNLOCK', id, { body: info('always') });
    app.advance(1);
  }
  assert.deepEqual(await serials(id), [
    [2, 'current'],
    [1, 'superseded'],
  ]);
});

test('only one of two simultaneous locks succeeds', async () => {
  const { id } = await createIdle();
  const statuses = await Promise.all(
    Array.from({ length: 6 }, (_, index) => statusOf('LOCK', id, { body: info(`l${index}`) })),
  );
  assert.deepEqual(statuses.toSorted(), [200, 423, 423, 423, 423, 423]);
});

test('only one of a tool and a deployment that start simultaneously holds the state', async () => {
  const environment = await createActive();
  for (const round of [1, 2, 3, 4, 5]) {
    const [lock, deployment] = await Promise.all([
      call('LOCK', environment.id, { body: info(`l${round}`) }),
      deploy(environment.id),
    ]);
    assert.deepEqual(
      [lock.statusCode, deployment.status],
      lock.statusCode === 200 ? [200, 'QUEUED'] : [423, 'IN_PROGRESS'],
    );
    await call('UNLOCK', environment.id, { body: info(`l${round}`) });
    await ok('abortDeployment', { id: deployment.id });
  }
});

test('the protocol has the routes that the contract lists, and no others', async () => {
  for (const { method, path } of stateProtocol)
    assert.ok(
      app.app.hasRoute({
        method: method as 'GET',
        url: `${stateProtocolBase}${fastifyPath(path)}`,
      }),
      `${method} ${path}`,
    );
  const alone = fastify({ exposeHeadRoutes: false });
  let routes = 0;
  alone.addHook('onRoute', () => void (routes += 1));
  await stateProtocolRoutes(alone, app.context);
  await alone.ready();
  assert.equal(routes, stateProtocol.length);
});

test('a run holds the state against outside tools, and says so', async () => {
  const environment = await createActive();
  const deployment = await deploy(environment.id);
  const refusal = await call('LOCK', environment.id, { body: info('mine') });
  const found = refusal.json<Record<string, string>>();
  assert.deepEqual([refusal.statusCode, found['ID'], found['Operation']], [423, found['Info'], 'deploy']);
  assert.match(
    found['ID'] ?? '',
    new RegExp(`^The deploy ${deployment.id} by .* has held the state since .* and is IN_PROGRESS`),
  );
  assert.equal(await statusOf('POST', environment.id, { body: stateFile(5, ['a']) }), 423);
  assert.equal(await statusOf('UNLOCK', environment.id), 409, 'a run is aborted, not unlocked');
  assert.equal(await statusOf('GET', environment.id), 200);
});

test('deployments wait for a tool that holds the state, and say so, until it releases the lock', async () => {
  const environment = await createActive();
  await call('LOCK', environment.id, { body: info('mine') });
  const queued = await deploy(environment.id);
  const pr = await deploy(environment.id, { deploymentType: 'prPlan' });
  assert.deepEqual([queued.status, pr.status], ['QUEUED', 'IN_PROGRESS']);
  const { waitingFor } = await deploymentOf(queued.id);
  assert.deepEqual([waitingFor?.kind, waitingFor?.id], ['lock', 'mine']);
  assert.match(
    waitingFor?.text ?? '',
    /^The state has been locked by me@laptop \(key admin\) since .* for OperationTypeApply; the deployment starts when/,
  );
  await call('UNLOCK', environment.id, { body: info('mine') });
  assert.equal((await deploymentOf(queued.id)).status, 'IN_PROGRESS');
});

test('a person with the right releases a forgotten lock, and the waiting deployment starts', async () => {
  const environment = await createActive();
  const params = { id: environment.id };
  assert.equal(await ok('getStateLock', { params }), null);
  await refused('freeStateLock', 409, /there is no lock to release/, { params });
  await call('LOCK', environment.id, { body: info('forgotten'), as: colleague });
  const lock = await ok('getStateLock', { params });
  assert.deepEqual(
    [lock?.lockId, lock?.heldBy, lock?.who, lock?.operation],
    ['forgotten', colleague.id, 'me@laptop', 'OperationTypeApply'],
  );
  const queued = await deploy(environment.id);
  await refused('freeStateLock', 403, { params, as: member });
  await refused('freeStateLock', 409, /its id is forgotten, not another/, {
    params,
    body: { lockId: 'another' },
  });
  const freed = await ok('freeStateLock', { params, body: { lockId: 'forgotten', reason: 'laptop died' } });
  assert.deepEqual(freed, lock);
  assert.equal((await deploymentOf(queued.id)).status, 'IN_PROGRESS');
  const rows = await sql(
    "select actor_id, details from audit_event where action = 'state.lockFreed' and entity_id = $1",
    environment.id,
  );
  assert.deepEqual(rows, [
    { actor_id: 'admin', details: { lockId: 'forgotten', heldBy: colleague.id, reason: 'laptop died' } },
  ]);
});

test('a state whose lock was released by another user is kept as rescued, once', async () => {
  const { id } = await createIdle();
  await call('LOCK', id, { body: info('mine') });
  await call('POST', id, { path: '?ID=mine', body: stateFile(1, ['a']) });
  await ok('freeStateLock', { id });
  for (const _ of [1, 2]) {
    const late = await call('POST', id, { path: '?ID=mine', body: stateFile(2, ['a', 'b']) });
    assert.deepEqual(
      [late.statusCode, /someone has released it.*rescued version/.test(late.body)],
      [409, true],
    );
  }
  assert.deepEqual(await serials(id), [
    [2, 'rescued'],
    [1, 'current'],
  ]);
  const [rescued] = await versions(id);
  assert.equal((await ok('promoteStateVersion', { id: rescued!.id })).resourceCount, 2);
});

test('unlocking without the id, or the lock of another key, requires the right to release locks', async () => {
  const { id } = await createIdle();
  await call('LOCK', id, { body: info('theirs'), as: colleague });
  assert.equal(await statusOf('UNLOCK', id, { body: info('theirs'), as: member }), 403);
  assert.equal(await statusOf('UNLOCK', id), 200);
  assert.equal(await ok('getStateLock', { id }), null);
});

test('a state that does not follow the current one is refused', async () => {
  const { id } = await createIdle();
  assert.equal(
    await statusOf('POST', id, { body: stateFile(4, ['a']) }),
    200,
    'without a lock while no one holds one',
  );
  const cases: [string, RegExp][] = [
    [stateFile(3, ['a']), /serial 3, the current one is already at 4/],
    [stateFile(4, ['b']), /serial 4, the current one is already at 4/],
    [stateFile(9, ['a'], 'another'), /lineage another, the current one lineage/],
  ];
  for (const [body, message] of cases) {
    const response = await call('POST', id, { body });
    assert.equal(response.statusCode, 409);
    assert.match(response.body, message);
  }
  assert.deepEqual(await serials(id), [[4, 'current']]);
});

test('malformed requests are refused with the reason', async () => {
  const { id } = await createIdle();
  const good = stateFile(1);
  const cases: [string, Parameters<typeof call>[2], number, RegExp][] = [
    ['POST', { body: good.slice(0, 30) }, 400, /damaged or truncated/],
    ['POST', {}, 400, /it is empty/],
    ['POST', { body: good, headers: { 'content-md5': 'AAAA' } }, 400, /Content-MD5/],
    ['POST', { body: good + ' '.repeat(1_100_000) }, 413, /ENVARIUM_STATE_LIMIT_MB/],
    ['LOCK', {}, 400, /\/body\/ID is required/],
    ['LOCK', { body: '{}' }, 400, /\/body\/ID is required/],
    ['LOCK', { body: '{"ID":7}' }, 400, /\/body\/ID must be a string/],
    ['LOCK', { body: '{"ID":"\\ud800"}' }, 400, /\/body\/ID must be a string/],
    ['LOCK', { body: 'x' }, 400, /\/body must be the lock/],
    ['POST', { body: good, path: '?ID=a%00b' }, 400, /\/query\/ID must be a string/],
    ['POST', { body: good, path: '?ID=a&ID=b' }, 400, /\/query\/ID must be a string/],
    ['POST', { body: stateFile(1, [], 'a\0b') }, 400, /lineage must be a non-empty string/],
    ['LOCK', { body: JSON.stringify({ ID: 'x', Info: 'y'.repeat(70_000) }) }, 413, /of a lock/],
    ['PATCH', {}, 405, /does not take PATCH/],
  ];
  for (const [method, input, status, message] of cases) {
    const response = await call(method, id, input);
    assert.deepEqual(
      [response.statusCode, message.test(response.body)],
      [status, true],
      `${method} ${response.body}`,
    );
  }
  assert.deepEqual(await versions(id), []);
});

test('callers without key, role or right get nothing; an unknown environment is not an empty state', async () => {
  const { id } = await createIdle();
  await call('POST', id, { body: stateFile(1) });
  const calls = [
    ['GET', undefined],
    ['POST', stateFile(2)],
    ['DELETE', undefined],
    ['LOCK', info('x')],
    ['UNLOCK', info('x')],
  ] as const;
  for (const [method, body] of calls) {
    const anonymous = await call(method, id, { body, as: null });
    assert.deepEqual(
      [anonymous.statusCode, anonymous.headers['www-authenticate'] !== undefined],
      [401, true],
      method,
    );
    assert.equal(await statusOf(method, id, { body, as: member }), 403, method);
    // A tool takes 404 for "no state yet", and would start from scratch.
    const unknown = method === 'GET' ? 403 : 404;
    for (const missing of [randomUUID(), 'no-uuid'])
      assert.equal(await statusOf(method, missing, { body }), unknown, method);
    assert.equal(await statusOf(method, id, { body, as: outsider }), unknown, method);
  }
  assert.deepEqual(await serials(id), [[1, 'current']]);
});

test('a state that is open to the organization can be read but not written by all members', async () => {
  const { id } = await createIdle();
  await call('POST', id, { body: stateFile(1) });
  await ok('setStateAccess', {
    params: { environmentId: id },
    body: { accessibleFromEntireOrganization: true },
  });
  assert.equal(await statusOf('GET', id, { as: member }), 200);
  assert.equal(await statusOf('GET', id, { as: outsider }), 403);
  assert.equal(await statusOf('POST', id, { as: member, body: stateFile(2) }), 403);
  await ok('deleteStateAccess', { params: { environmentId: id } });
  assert.equal(await statusOf('GET', id, { as: member }), 403);
});

test('a locked environment is locked for tools, too, except for the one that held its state before', async () => {
  const { id } = await createIdle();
  await call('LOCK', id, { body: info('before') });
  await ok('setEnvironmentLock', { id, body: { isLocked: true, reason: 'freeze' } });
  assert.equal(await statusOf('POST', id, { path: '?ID=before', body: stateFile(1) }), 200);
  await call('UNLOCK', id, { body: info('before') });
  const refusal = await call('LOCK', id, { body: info('after') });
  assert.equal(refusal.statusCode, 423);
  assert.match(refusal.json<Record<string, string>>()['Info'] ?? '', /is locked by .* \(freeze\)/);
});
