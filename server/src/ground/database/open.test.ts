import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Secret } from '#settings/secret.ts';
import { testDatabase } from '../../../testing/database.ts';
import { openDatabase } from './open.ts';

test('the database that DATABASE_URL names is used, and left running', async () => {
  await using server = await testDatabase();
  const url = `postgres://${server.address.user}@${encodeURIComponent(String(server.address.host))}/${server.address.database}`;
  for (let time = 0; time < 2; time++) {
    await using database = await openDatabase({ databaseUrl: new Secret(url), dataFolder: '/nowhere' });
    assert.equal(database.embeddedPid, null);
    const { rows } = await database.pool.query(
      "select count(*) as n, 12::bigint as big, timestamptz '2026-01-02T03:04:05Z' as at from generate_series(1, 3)",
    );
    assert.deepEqual(rows, [{ n: 3, big: 12, at: new Date('2026-01-02T03:04:05Z') }]);
  }
});

test('a database that does not answer is refused without showing the password', async () => {
  const url = new Secret('postgres://somebody:planted@127.0.0.1:1/x');
  await assert.rejects(
    openDatabase({ databaseUrl: url, dataFolder: '/nowhere' }),
    (error: Error) =>
      /The database in DATABASE_URL cannot be used: .*ECONNREFUSED/.test(error.message) &&
      !error.message.includes('planted'),
  );
});
