import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { before, test } from 'node:test';
import { testDatabase } from '../../../testing/database.ts';
import {
  compareSchemas,
  contractions,
  describeSchema,
  lastReleasedMigration,
  type SchemaDescription,
} from '../../../testing/released-schema.ts';
import { migrate } from './migrate.ts';

let released: SchemaDescription;

before(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'released-'));
  const isReleased = (file: string) => !file.endsWith('.sql') || basename(file) <= lastReleasedMigration;
  cpSync(join(import.meta.dirname, 'migrations'), folder, { recursive: true, filter: isReleased });
  await using database = await testDatabase();
  await database.pool.query('drop schema public cascade; create schema public');
  await migrate(database.db, folder);
  released = await describeSchema(database);
  rmSync(folder, { recursive: true });
});

test('servers of the last release can write after all migrations', async () => {
  await using database = await testDatabase();
  const breaks = compareSchemas(released, await describeSchema(database));
  assert.deepEqual(
    breaks.filter((each) => !(each in contractions)),
    [],
    'make the change in two releases: add first; remove what the release no longer uses (contractions)',
  );
  assert.deepEqual(
    Object.keys(contractions).filter((each) => !breaks.includes(each)),
    [],
    'remove what the last release already has from contractions',
  );
});

test('no migration leaves a constraint unchecked for the rows that were there before it', async () => {
  await using database = await testDatabase();
  const { rows } = await database.pool.query(
    'select conrelid::regclass::text as "table", conname as name from pg_constraint where not convalidated',
  );
  assert.deepEqual(rows, [], 'add the constraint as not valid, and validate it in the next migration');
});

test('every column of the last release can still be written', async () => {
  await using database = await testDatabase();
  const removed = new Set(Object.keys(contractions));
  for (const [table, { columns }] of Object.entries(released)) {
    if (removed.has(`table ${table} is missing`)) continue;
    const names = Object.keys(columns).filter((name) => !removed.has(`column ${table}.${name} is missing`));
    const list = names.map((name) => `"${name}"`).join(', ');
    const values = names.map((name) => `null::${columns[name]?.type ?? ''}`).join(', ');
    await database.pool.query(
      `insert into "${table}" (${list}) overriding system value select ${values} where false`,
    );
    await database.pool.query(`select ${list} from "${table}" limit 1`);
  }
});

test('each change that servers of the last release would not survive is found, and an addition is not', async () => {
  await using database = await testDatabase();
  await database.pool.query(`
    create table kept (id integer primary key, name text, size integer not null default 1);
    create table gone (id integer);`);
  const before = await describeSchema(database);
  const breaksOf = async (change: string) => {
    const client = await database.pool.connect();
    try {
      await client.query(`begin; ${change}`);
      const pool = { query: client.query.bind(client) } as unknown as typeof database.pool;
      return compareSchemas(before, await describeSchema({ pool }));
    } finally {
      await client.query('rollback');
      client.release();
    }
  };
  const cases: readonly [string, readonly string[]][] = [
    ['drop table gone', ['table gone is missing']],
    ['alter table kept drop column name', ['column kept.name is missing']],
    ['alter table kept rename column name to title', ['column kept.name is missing']],
    ['alter table kept alter column name set not null', ['column kept.name may no longer be null']],
    ['alter table kept alter column size type bigint', ['column kept.size is bigint and was integer']],
    ['alter table kept alter column size drop default', ['column kept.size has lost its default']],
    [
      'alter table kept add column more integer not null',
      ['column kept.more is new, may not be null and has no default'],
    ],
    ['alter table kept add check (size > 0)', ['table kept refuses more: CHECK ((size > 0))']],
    [
      'create unique index one_name on kept (name)',
      ['table kept refuses more: UNIQUE INDEX ON public.kept USING btree (name)'],
    ],
    ['create table more (id integer primary key); create index on kept (name)', []],
    ["alter table kept add column more text, add column most text not null default 'x'", []],
    ['alter table kept alter column size drop not null', []],
  ];
  for (const [change, breaks] of cases) assert.deepEqual(await breaksOf(change), breaks, change);
});
