import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type OperationName, operations } from '#contract/operations.ts';
import type { Operation } from '#contract/schema/operation.ts';
import { isRepeatable } from '#contract/schema/reader-of.ts';
import { testApp } from '../../../../testing/app.ts';
import { basic, call, refused } from '../../../../testing/client.ts';
import { createBody, createIdle } from '../../../../testing/environment.ts';
import { makeSamples } from '../../../../testing/samples.ts';
import { families } from '../../../families.ts';
import { buildApp } from '../app.ts';
import { deleteExpiredKeys } from './idempotent-requests.ts';

const app = await testApp();
const create = (key: string, body = createBody(app), as = app.admin) =>
  call(app, 'createEnvironmentWithoutTemplate', { body, headers: { 'idempotency-key': key }, as });

async function environments(): Promise<number> {
  const { rows } = await app.database.pool.query<{ count: number }>(
    'select count(*)::int as count from environment',
  );
  return rows[0]?.count ?? -1;
}

test('a repeated request under the same key gets the same answer and is carried out once', async () => {
  const first = await create('one');
  const second = await create('one');
  assert.deepEqual([first.statusCode, second.statusCode], [200, 200]);
  assert.equal(second.body, first.body);
  assert.equal(await environments(), 1);
});

test('another request under the same key is refused with 409', async () => {
  await create('two');
  const before = await environments();
  assert.equal((await create('two', createBody(app, { name: 'other' }))).statusCode, 409);
  await refused(app, 'createProject', 409, /Idempotency-Key/, {
    body: { organizationId: app.organizationId, name: 'p' },
    headers: { 'idempotency-key': 'two' },
  });
  assert.equal(await environments(), before);
});

test('simultaneous requests under one key create one environment', async () => {
  const before = await environments();
  const replies = await Promise.all(Array.from({ length: 8 }, () => create('at once')));
  assert.deepEqual(new Set(replies.map((reply) => reply.statusCode)), new Set([200]));
  assert.equal(new Set(replies.map((reply) => reply.json<{ id: string }>().id)).size, 1);
  assert.equal(await environments(), before + 1);
});

test('a refused request does not use up its key', async () => {
  assert.equal((await create('later', createBody(app, { projectId: app.organizationId }))).statusCode, 400);
  assert.equal((await create('later')).statusCode, 200);
});

test('a key belongs to the caller that sent it', async () => {
  const other = await app.addKey({ [app.organizationId]: 'Admin' });
  const [mine, theirs] = [await create('mine'), await create('mine', createBody(app), other)];
  assert.notEqual(mine.json<{ id: string }>().id, theirs.json<{ id: string }>().id);
});

test('a malformed key is refused by name', async () => {
  for (const key of ['', 'k'.repeat(256), 'ü']) {
    const { message } = await refused(app, 'createEnvironmentWithoutTemplate', 400, {
      body: createBody(app),
      headers: { 'idempotency-key': key },
    });
    assert.match(message, /Idempotency-Key/, key);
  }
});

test('a secret that is shown once is not stored in the database with a key', async () => {
  const [agent] = (await call(app, 'listAgents')).json<{ agentKey: string }[]>();
  const again = () =>
    call(app, 'createAgentSecret', {
      params: { agentKey: agent?.agentKey ?? '' },
      body: {},
      headers: { 'idempotency-key': 'secret' },
    });
  const { secret } = (await again()).json<{ secret: string }>();
  assert.equal((await again()).json<{ secret: string }>().secret, secret);
  const { rows } = await app.database.pool.query<{ text: string }>(
    'select k::text as text from idempotency_key k',
  );
  assert.ok(
    rows.every(({ text }) => !text.includes(secret) && !text.includes(Buffer.from(secret).toString('hex'))),
  );
});

test('a repeated answer says so', async () => {
  const [first, again] = [await create('says so'), await create('says so')];
  assert.deepEqual(
    [first.headers['idempotency-replayed'], again.headers['idempotency-replayed']],
    [undefined, 'true'],
  );
});

test('a key holds on every server, and after a restart', async () => {
  const before = await environments();
  await using other = await buildApp({ ...app.context }, families);
  const request = {
    method: 'POST',
    url: '/api/environments/without-template',
    headers: {
      authorization: basic(app.admin),
      'content-type': 'application/json',
      'idempotency-key': 'servers',
    },
    payload: JSON.stringify(createBody(app)),
  } as const;
  const replies = await Promise.all(
    Array.from({ length: 12 }, (_, index) => (index % 2 ? other : app.app).inject(request)),
  );
  assert.deepEqual(new Set(replies.map(({ statusCode }) => statusCode)), new Set([200]));
  assert.equal(new Set(replies.map(({ body }) => body)).size, 1);
  assert.equal(replies.filter(({ headers }) => headers['idempotency-replayed'] === 'true').length, 11);
  await using restarted = await buildApp({ ...app.context }, families);
  const late = await restarted.inject(request);
  assert.deepEqual([late.body, late.headers['idempotency-replayed']], [replies[0]?.body, 'true']);
  assert.equal(await environments(), before + 1);
});

test('what a request sets going is done once: jobs, events and entries of the audit trail', async () => {
  const { id } = await createIdle(app);
  const counts = async () => {
    const { rows } = await app.database.pool.query(
      `select (select count(*)::int from job) as jobs, (select count(*)::int from effect) as effects,
        (select count(*)::int from audit_event) as entries`,
    );
    return rows[0] as { jobs: number; effects: number; entries: number };
  };
  const deploy = () =>
    call(app, 'deployEnvironment', { id, body: {}, headers: { 'idempotency-key': 'deploy' } });
  const before = await counts();
  assert.equal((await deploy()).statusCode, 200);
  const after = await counts();
  assert.deepEqual([after.jobs, after.entries], [before.jobs + 1, before.entries + 1]);
  assert.equal((await deploy()).headers['idempotency-replayed'], 'true');
  assert.deepEqual(await counts(), after);
});

test('what was deleted cannot be seen through a key', async () => {
  const { id } = await createIdle(app);
  const remove = () => call(app, 'deleteEnvironment', { id, headers: { 'idempotency-key': 'remove' } });
  assert.deepEqual([(await remove()).statusCode, (await remove()).statusCode], [200, 404]);
});

test('a request that fails halfway leaves neither a change nor its key behind', async () => {
  const before = await environments();
  await app.database.pool.query(`create function refuse() returns trigger language plpgsql as
    $$ begin raise exception 'no audit'; end $$`);
  await app.database.pool.query(
    'create trigger refuse before insert on audit_event for each row execute function refuse()',
  );
  const response = await app.app.inject({
    method: 'POST',
    url: '/api/environments/without-template',
    headers: { authorization: basic(app.admin), 'idempotency-key': 'halfway' },
    payload: JSON.stringify(createBody(app)),
  });
  await app.database.pool.query('drop function refuse cascade');
  assert.equal(response.statusCode, 500);
  assert.equal(await environments(), before);
  const again = await create('halfway');
  assert.deepEqual([again.statusCode, again.headers['idempotency-replayed']], [200, undefined]);
});

test('every change by a caller with credentials can be repeated under its key', async () => {
  const app = await testApp();
  const environment = await createIdle(app);
  const { requestOf } = await makeSamples(app, environment);
  const changes = (Object.values(operations) as (Operation & { name: OperationName })[]).filter(isRepeatable);
  for (const operation of changes) {
    const headers = { 'idempotency-key': operation.name };
    const known = requestOf(operation);
    const unknown = Object.fromEntries(
      [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => [name, 'none']),
    );
    const request = { ...known, params: { ...unknown, ...known.params }, headers };
    const first = await call(app, operation.name, request);
    const again = await call(app, operation.name, request);
    assert.notEqual(again.statusCode, 500);
    if (first.statusCode >= 400) assert.equal(again.headers['idempotency-replayed'], undefined);
    // Removed entities cannot be specified again.
    else if (again.statusCode === 404) assert.equal(operation.method, 'DELETE', operation.name);
    else
      assert.deepEqual(
        [again.body, again.headers['idempotency-replayed']],
        [first.body, 'true'],
        operation.name,
      );
  }
});

test('keys are removed after a while', async () => {
  const first = await create('old');
  await deleteExpiredKeys(app.context);
  assert.equal((await create('old')).body, first.body);
  app.advance(49 * 3600);
  await deleteExpiredKeys(app.context);
  assert.notEqual((await create('old')).body, first.body);
});
