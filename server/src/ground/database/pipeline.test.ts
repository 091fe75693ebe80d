import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { afterEach, beforeEach, test } from 'node:test';
import { sql } from 'kysely';
import { testDatabase } from '../../../testing/database.ts';
import type { Database } from './open.ts';
import { beforeCommit, inTransaction, sqlState } from './transaction.ts';

let database: Database;
beforeEach(async () => {
  database = await testDatabase();
  await database.pool.query('create table note (id serial primary key, text text unique not null)');
});
afterEach(() => database[Symbol.asyncDispose]());

const notes = async () =>
  (await database.pool.query('select text from note order by id')).rows.map(
    (row: { text: string }) => row.text,
  );

const write = (text: string) => sql`insert into note (text) values (${text})`;

test('statements of the same moment and the beginning of their transaction are sent in one write', async (t) => {
  await notes();
  let writes = 0;
  for (const name of ['_writev', '_write'] as const) {
    const send = Socket.prototype[name] as (...args: unknown[]) => void;
    t.mock.method(Socket.prototype, name, function count(this: Socket, ...args: unknown[]) {
      writes++;
      send.apply(this, args);
    } as never);
  }
  await inTransaction(database, async ({ db }) => {
    await Promise.all(['one', 'two', 'three'].map((text) => write(text).execute(db)));
  });
  t.mock.restoreAll();
  assert.equal(writes, 2);
  assert.deepEqual(await notes(), ['one', 'two', 'three']);
});

test('a statement sees what the one before it in the same moment has done', async () => {
  const found = await inTransaction(database, async ({ db }) => {
    const [, { rows }] = await Promise.all([
      write('first').execute(db),
      sql<{ text: string }>`select text from note`.execute(db),
    ]);
    return rows;
  });
  assert.deepEqual(found, [{ text: 'first' }]);
});

test('the first of several failures is reported, and nothing is stored', async () => {
  await write('taken').execute(database.db);
  const deep = async (work: () => Promise<unknown>, depth: number): Promise<unknown> =>
    depth === 0 ? work() : await deep(work, depth - 1);
  const work = inTransaction(database, async ({ db }) => {
    await Promise.all([
      write('new').execute(db),
      deep(() => write('taken').execute(db), 20),
      write('another').execute(db),
    ]);
  });
  await assert.rejects(work, (error) => sqlState(error) === '23505');
  assert.deepEqual(await notes(), ['taken']);
});

test('a statement that comes after the end of its transaction is refused', async () => {
  let late: Promise<unknown> = Promise.resolve();
  const work = inTransaction(database, async ({ db }) => {
    const steps = async () => {
      for (let turn = 0; turn < 50; turn++) await Promise.resolve();
      await write('late').execute(db);
    };
    await write('first').execute(db);
    late = steps();
    late.catch(() => undefined);
    throw new Error('refused');
  });
  await assert.rejects(work, /refused/);
  await assert.rejects(late, /after the end of its transaction/);
  assert.deepEqual(await notes(), []);
});

test('what fails right before a commit is reported, and nothing is stored', async () => {
  const work = inTransaction(database, async ({ db }) => {
    await write('first').execute(db);
    beforeCommit(db, async () => {
      await sql`select 1 / ${0}::integer`.execute(db);
    });
  });
  await assert.rejects(work, (error) => sqlState(error) === '22012');
  assert.deepEqual(await notes(), []);
});

test('what fails right before a commit without a statement is reported, too', async () => {
  const work = inTransaction(database, async ({ db }) => {
    beforeCommit(db, async () => {
      throw new TypeError('not a statement');
    });
  });
  await assert.rejects(work, TypeError);
});
