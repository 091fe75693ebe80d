import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { startTests } from '../../../testing/start.ts';
import { connect } from './open.ts';
import { whyUnavailable } from './unavailable.ts';

const { app, send } = await startTests();

async function failure(statement: string, database = app.database): Promise<unknown> {
  return database.pool.query(statement).then(
    () => null,
    (error: unknown) => error,
  );
}

const raised = (code: string) => failure(`do $$ begin raise sqlstate '${code}'; end $$`);

test('each failure of the database that passes has its own sentence', async () => {
  const elsewhere = connect({ ...app.database.address, host: '/nowhere' });
  const cases: [error: unknown, sentence: RegExp][] = [
    [await failure('select pg_terminate_backend(pg_backend_pid())'), /does not answer/],
    [await failure('select 1', elsewhere), /does not answer/],
    [await failure('start transaction read only; create table never (it text)'), /read-only.*DATABASE_URL/],
    [await raised('57P03'), /does not answer/],
    [await raised('53300'), /no connection left.*max_connections/],
    [await raised('53100'), /disk .* full/],
    [await raised('57014'), /busy/],
  ];
  for (const [error, sentence] of cases) assert.match(whyUnavailable(error) ?? '', sentence, String(error));
  await elsewhere[Symbol.asyncDispose]();
});

test('after an error of a statement or of a file, answers do not suggest another try', async () => {
  for (const error of [
    await failure('select nothing'),
    await raised('23505'),
    await readFile('/nowhere').catch((reason: unknown) => reason),
    new Error('anything'),
  ])
    assert.equal(whyUnavailable(error), null, String(error));
});

test('a request whose connection is lost gets 503 with Retry-After', async () => {
  const query = app.database.pool.query.bind(app.database.pool);
  // Tables that a server reads when it starts are read.
  await send({ url: '/api/projects' });
  app.database.pool.once('acquire', (client) => {
    void query('select pg_terminate_backend($1)', [(client as unknown as { processID: number }).processID]);
    void client.query('select pg_sleep(2)').catch(() => undefined);
  });
  const response = await send({ url: '/api/projects' });
  assert.deepEqual(
    [response.statusCode, response.json<{ code: string }>().code, response.headers['retry-after']],
    [503, 'unavailable', '5'],
    response.body,
  );
});
