import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { migrate } from './migrate.ts';
import { connect, type Database } from './open.ts';
import { testDatabase } from './testing.ts';

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
