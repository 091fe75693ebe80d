import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { testDatabase } from '../../../testing/database.ts';
import { openDatabaseProxy } from '../../../testing/database-proxy.ts';
import { connect } from './open.ts';
import { whyUnavailable } from './unavailable.ts';

const pidOf = async (db: Parameters<ReturnType<typeof sql>['execute']>[0]) =>
  (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)).rows[0]?.pid;

test('statements of several callers use one connection at the same time', async () => {
  await using database = await testDatabase();
  const pids = await Promise.all(Array.from({ length: 20 }, () => pidOf(database.shared)));
  assert.equal(new Set(pids).size, 1);
});

test('a failed statement leaves the others alone', async () => {
  await using database = await testDatabase();
  const [one, broken, two] = await Promise.allSettled([
    pidOf(database.shared),
    sql`select 1 / 0`.execute(database.shared),
    pidOf(database.shared),
  ]);
  assert.deepEqual([one.status, broken.status, two.status], ['fulfilled', 'rejected', 'fulfilled']);
});

test('a lost connection is replaced, whether it is idle or in use', async () => {
  await using database = await testDatabase();
  const { db, shared } = database;
  const first = await pidOf(shared);
  await sql`select pg_terminate_backend(${first}, 5000)`.execute(db);
  // Until its end is noticed, statements fail like those of any lost connection.
  let second: number | undefined;
  while (second === undefined) second = await pidOf(shared).catch(() => undefined);
  assert.notEqual(second, first);
  const sleeping = assert.rejects(sql`select pg_sleep(60)`.execute(shared));
  await sql`select pg_terminate_backend(${second}, 5000)`.execute(db);
  await sleeping;
  assert.notEqual(await pidOf(shared), second);
});

test('a connection that falls silent is replaced, and what waits on it fails as something that passes', async () => {
  await using database = await testDatabase();
  await using proxy = await openDatabaseProxy(database.address);
  await using through = connect({ ...proxy.address, query_timeout: 500 });
  const { shared } = through;
  const first = await pidOf(shared);
  proxy.silence();
  const waiting = await Promise.allSettled([pidOf(shared), pidOf(shared), pidOf(shared)]);
  for (const each of waiting)
    assert.ok(each.status === 'rejected' && whyUnavailable(each.reason) !== null, JSON.stringify(each));
  let next: number | undefined;
  while (next === undefined) next = await pidOf(shared).catch(() => undefined);
  assert.notEqual(next, first);
});

test('only the shared connection gives up on answers, and all connections are probed', async () => {
  await using database = await testDatabase();
  assert.equal(database.pool.options.query_timeout, undefined);
  assert.deepEqual(
    [database.pool.options.keepAlive, database.pool.options.keepAliveInitialDelayMillis],
    [true, 10_000],
  );
});
