import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { testDatabase } from '../../../testing/database.ts';
import { inTransaction } from './transaction.ts';

test('a connection that dies in a transaction fails it, and the next one gets a new connection', async () => {
  await using database = await testDatabase();
  const { db } = database;
  const lost = inTransaction({ db }, async ({ db: tx }) => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
    await sql`select pg_terminate_backend(${rows[0]?.pid})`.execute(db);
    // The end of the connection arrives while no query is waiting on it.
    await new Promise((resolve) => setImmediate(resolve));
    await sql`select 1`.execute(tx);
  });
  await assert.rejects(lost);
  const { rows } = await sql<{ one: number }>`select 1 as one`.execute(db);
  assert.equal(rows[0]?.one, 1);
});
