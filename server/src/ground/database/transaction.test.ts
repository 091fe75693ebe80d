import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { sql, type Transaction } from 'kysely';
import { testDatabase } from '../../../testing/database.ts';
import type { Schema } from '../../rows/schema.ts';
import type { Database } from './open.ts';
import { afterCommit, inTransaction, sqlState } from './transaction.ts';

let database: Database;
beforeEach(async () => {
  database = await testDatabase();
  await database.pool.query(
    'create table counter (id integer primary key, n integer not null); insert into counter values (1, 0), (2, 0)',
  );
});
afterEach(() => database[Symbol.asyncDispose]());

const add = (tx: Transaction<Schema>, id: number) =>
  sql`update counter set n = n + 1 where id = ${id}`.execute(tx);
const counters = async () =>
  (await database.pool.query('select n from counter order by id')).rows.map((row: { n: number }) => row.n);

test('both transactions of a deadlock succeed', async () => {
  let waiting = 0;
  let release = (): void => undefined;
  const bothHaveOne = new Promise<void>((resolve) => {
    release = resolve;
  });
  const cross = (first: number, second: number) =>
    inTransaction({ db: database.db }, async ({ db: tx }) => {
      await add(tx, first);
      if (++waiting === 2) release();
      await bothHaveOne;
      await add(tx, second);
    });
  await Promise.all([cross(1, 2), cross(2, 1)]);
  assert.deepEqual(await counters(), [2, 2]);
});

test('a serialization failure is retried three times, and then reported', async () => {
  let runs = 0;
  const work = async ({ db: tx }: { db: Transaction<Schema> }): Promise<void> => {
    runs++;
    await add(tx, 1);
    await sql`do $$ begin raise exception 'no' using errcode = '40001'; end $$`.execute(tx);
  };
  await assert.rejects(inTransaction({ db: database.db }, work), (error) => sqlState(error) === '40001');
  assert.equal(runs, 4);
  assert.deepEqual(await counters(), [0, 0]);
});

test('any other failure, also of an inner call, rolls back immediately', async () => {
  let runs = 0;
  await assert.rejects(
    inTransaction({ db: database.db }, async ({ db: tx }) => {
      runs++;
      await add(tx, 1);
      await inTransaction({ db: tx }, ({ db: inner }) => add(inner, 2));
      throw new Error('refused');
    }),
    /refused/,
  );
  assert.equal(runs, 1);
  assert.deepEqual(await counters(), [0, 0]);
});

test('work after a commit runs once, even after a retry, and never after a rollback', async () => {
  let runs = 0;
  const followed: string[] = [];
  await inTransaction({ db: database.db }, async ({ db }) => {
    const run = ++runs;
    await inTransaction({ db }, async (inner) => afterCommit(inner.db, () => followed.push(`run ${run}`)));
    assert.deepEqual(followed, []);
    if (run === 1) await sql`do $$ begin raise exception 'no' using errcode = '40001'; end $$`.execute(db);
  });
  assert.deepEqual(followed, ['run 2']);
  const failing = inTransaction({ db: database.db }, async ({ db }) => {
    afterCommit(db, () => followed.push('never'));
    throw new Error('refused');
  });
  await assert.rejects(failing, /refused/);
  afterCommit(database.db, () => followed.push('immediately'));
  assert.deepEqual(followed, ['run 2', 'immediately']);
});
