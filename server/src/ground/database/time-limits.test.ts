import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testAgent } from '../../../testing/agent.ts';
import { testApp } from '../../../testing/app.ts';
import { ok, send } from '../../../testing/client.ts';
import { connect } from './open.ts';

const countOfConnections =
  'select count(*)::int as count from pg_stat_activity where datname = current_database()';

test('statements, waits for locks and idle transactions end on every connection', async () => {
  const app = await testApp();
  for (const [name, value] of [
    ['statement_timeout', '1min'],
    ['lock_timeout', '20s'],
    ['idle_in_transaction_session_timeout', '2min'],
  ] as const) {
    const { rows } = await app.database.pool.query<Record<string, string>>(`show ${name}`);
    assert.equal(rows[0]?.[name], value);
  }
});

test('readiness, heartbeats and claims are answered while requests hold all connections', async () => {
  const app = await testApp();
  const agent = await testAgent(app);
  const held = await Promise.all(Array.from({ length: 20 }, () => app.database.pool.connect()));
  try {
    const waiting = ok(app, 'listProjects');
    assert.equal((await send(app, { url: '/readyz' }, null)).statusCode, 200);
    await agent.heartbeat([]);
    assert.equal(await agent.claimAny(), null);
    held.pop()?.release();
    await waiting;
  } finally {
    for (const client of held) client.release();
  }
});

test('many probes of readiness at once share one question to the database', async () => {
  const app = await testApp();
  const { rows: before } = await app.database.pool.query<{ count: number }>(countOfConnections);
  const probes = Array.from({ length: 50 }, () => send(app, { url: '/readyz' }, null));
  for (const { statusCode } of await Promise.all(probes)) assert.equal(statusCode, 200);
  const { rows: after } = await app.database.pool.query<{ count: number }>(countOfConnections);
  const opened = (after[0]?.count ?? 0) - (before[0]?.count ?? 0);
  assert.ok(opened <= 1, `${opened} connections were opened`);
});

test('a request that finds the database busy for too long gets 503', async () => {
  const app = await testApp();
  const other = connect(app.database.address);
  const client = await other.pool.connect();
  try {
    await client.query('begin; lock table project in access exclusive mode');
    await app.database.pool.query('select 1');
    app.database.pool.on('acquire', (each) => void each.query("set lock_timeout = '200ms'"));
    const response = await send(app, { url: '/api/projects' });
    assert.deepEqual([response.statusCode, response.json<{ code: string }>().code], [503, 'unavailable']);
  } finally {
    await client.query('rollback');
    client.release();
    await other[Symbol.asyncDispose]();
  }
});
