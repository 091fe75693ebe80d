import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { testDatabase } from '../../../testing/database.ts';
import { migrate } from './migrate.ts';
import { connect, type Database } from './open.ts';

const folderOfMigrations = join(import.meta.dirname, 'migrations');
let folder: string;
let database: Database;
const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'migrations '));
  database = await testDatabase();
  await database.pool.query('drop table migration');
});
afterEach(async () => {
  await database[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

test('each migration is applied once, in order, also when two servers start at the same time', async () => {
  write('0001-first.sql', 'create table first (a integer); insert into first values (1);');
  await using other = connect(database.address);
  const applied = await Promise.all([migrate(database.db, folder), migrate(other.db, folder)]);
  assert.deepEqual(applied.flat(), ['0001-first.sql']);
  write('0002-second.sql', 'alter table first add b integer; update first set b = a + 1;');
  assert.deepEqual(await migrate(database.db, folder), ['0002-second.sql']);
  assert.deepEqual((await database.pool.query('select * from first')).rows, [{ a: 1, b: 2 }]);
  assert.deepEqual(await migrate(database.db, folder), []);
});

test('a failed migration is rolled back and named', async () => {
  write('0001-first.sql', 'create table first (a integer);');
  write('0002-broken.sql', 'insert into first values (1); create tabel wrong ();');
  await assert.rejects(migrate(database.db, folder), /0002-broken\.sql failed.*syntax error/);
  assert.deepEqual((await database.pool.query('select * from first')).rows, []);
  write('0002-broken.sql', 'insert into first values (2);');
  assert.deepEqual(await migrate(database.db, folder), ['0002-broken.sql']);
});

test('a database of a newer version is refused', async () => {
  write('0007-seventh.sql', 'select 1;');
  await migrate(database.db, folder);
  rmSync(join(folder, '0007-seventh.sql'));
  write('0006-sixth.sql', 'select 1;');
  await assert.rejects(
    migrate(database.db, folder),
    /newer than this program: it has migration 7, this program knows 6/,
  );
});

test('a later migration is applied to a database with rows, which it keeps', async () => {
  await using released = await testDatabase();
  await released.pool.query(
    "insert into organization (id, name, created_by) values (gen_random_uuid(), 'acme', 'ada')",
  );
  cpSync(folderOfMigrations, folder, { recursive: true });
  write(
    '9999-motto.sql',
    "alter table organization add motto text; update organization set motto = name || '!';",
  );
  assert.deepEqual(await migrate(released.db, folder), ['9999-motto.sql']);
  const { rows } = await released.pool.query('select name, motto from organization');
  assert.deepEqual(rows, [{ name: 'acme', motto: 'acme!' }]);
  await assert.rejects(migrate(released.db), /newer than this program: it has migration 9999/);
});

test('search works without the index where the database owner cannot install extensions', async () => {
  const { pool } = database;
  await pool.query('drop schema public cascade; drop extension if exists pg_trgm; create schema public');
  const role = `limited_${process.pid}`;
  await pool.query(`create role ${role}; grant all on schema public to ${role}`);
  try {
    const client = await pool.connect();
    try {
      await client.query(`set role ${role}`);
      for (const name of readdirSync(folderOfMigrations).toSorted())
        await client.query(readFileSync(join(folderOfMigrations, name), 'utf8'));
      const { rows } = await client.query("select from pg_indexes where indexname = 'environment_by_part'");
      assert.equal(rows.length, 0);
      const matches = await client.query(
        "select from environment where search_text like '%' || lower('X') || '%'",
      );
      assert.deepEqual(matches.rows, []);
    } finally {
      await client.query('reset role');
      client.release();
    }
  } finally {
    await pool.query(`drop owned by ${role}; drop role ${role}`);
  }
});
