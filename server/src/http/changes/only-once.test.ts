import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testApp } from '../../testing/app.ts';
import { call, refused } from '../../testing/client.ts';
import { forgetOnceKeys } from './only-once.ts';
import { createBody } from '../../testing/environment.ts';

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

test('another request under the same key is refused with 422', async () => {
  await create('two');
  const before = await environments();
  assert.equal((await create('two', createBody(app, { name: 'other' }))).statusCode, 422);
  const { message } = await refused(app, 'createProject', 422, {
    body: { organizationId: app.organizationId, name: 'p' },
    headers: { 'idempotency-key': 'two' },
  });
  assert.match(message, /Idempotency-Key/);
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

test('keys are removed after a while', async () => {
  const first = await create('old');
  await forgetOnceKeys(app.context);
  assert.equal((await create('old')).body, first.body);
  app.advance(49 * 3600);
  await forgetOnceKeys(app.context);
  assert.notEqual((await create('old')).body, first.body);
});
