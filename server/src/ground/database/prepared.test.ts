import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { testDatabase } from '../../../testing/database.ts';
import { inTransaction } from './transaction.ts';

test('a statement is prepared from its third use on', async () => {
  await using database = await testDatabase();
  const { db } = database;
  await db.connection().execute(async (connection) => {
    const ask = () => sql`select ${1}::int as one`.execute(connection);
    const prepared = async () =>
      (await sql<{ name: string }>`select name from pg_prepared_statements`.execute(connection)).rows.length;
    await ask();
    await ask();
    assert.equal(await prepared(), 0);
    for (let use = 0; use < 3; use++) assert.deepEqual((await ask()).rows, [{ one: 1 }]);
    assert.equal(await prepared(), 1);
  });
});

test('a prepared statement works again after a migration has changed its table', async () => {
  await using database = await testDatabase();
  const { db } = database;
  await sql`create table thing (one int)`.execute(db);
  const ask = (on = db) => sql`select * from thing where 1 = ${1}`.execute(on);
  await sql`insert into thing values (1)`.execute(db);
  await db.connection().execute(async (connection) => {
    for (let use = 0; use < 4; use++) await ask(connection);
    await sql`alter table thing add column two int`.execute(connection);
    assert.deepEqual((await ask(connection)).rows, [{ one: 1, two: null }]);
    for (let use = 0; use < 4; use++) await ask(connection);
  });
  await sql`alter table thing add column three int`.execute(db);
  await inTransaction({ db }, async (context) => {
    assert.deepEqual((await ask(context.db)).rows, [{ one: 1, two: null, three: null }]);
  });
});

test('several commands in one text are never prepared', async () => {
  await using database = await testDatabase();
  for (let use = 0; use < 4; use++) await sql.raw('select 1; select 2').execute(database.db);
});
