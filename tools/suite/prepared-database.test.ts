import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { copyPreparedDatabase, preparedDatabaseVariable } from './prepared-database.ts';
import { temporaryFolder } from './temporary-folder.ts';

function prepare(t: TestContext): { readonly dataFolder: string } {
  const folder = temporaryFolder(t, 'prepared-database-');
  const prepared = join(folder, 'prepared');
  mkdirSync(prepared, { mode: 0o700 });
  writeFileSync(join(prepared, 'PG_VERSION'), '18\n', { mode: 0o600 });
  const before = process.env[preparedDatabaseVariable];
  process.env[preparedDatabaseVariable] = prepared;
  t.after(() => {
    if (before === undefined) delete process.env[preparedDatabaseVariable];
    else process.env[preparedDatabaseVariable] = before;
  });
  return { dataFolder: join(folder, 'data') };
}

test('a new data folder gets a copy, which another user can reach and only its owner read', async (t) => {
  const { dataFolder } = prepare(t);
  await copyPreparedDatabase(dataFolder);
  const place = join(dataFolder, 'postgresql');
  assert.equal(readFileSync(join(place, 'data', 'PG_VERSION'), 'utf8'), '18\n');
  assert.match(readFileSync(join(place, 'config', 'custom.conf'), 'utf8'), /^fsync = off$/m);
  const modes = [dataFolder, place, join(place, 'data')].map((path) => statSync(path).mode & 0o777);
  assert.deepEqual(modes, [0o711, 0o711, 0o700]);
});

test('a data folder that exists is left alone', async (t) => {
  const { dataFolder } = prepare(t);
  mkdirSync(dataFolder);
  await copyPreparedDatabase(dataFolder);
  assert.deepEqual(readdirSync(dataFolder), []);
});

test('without a prepared database, the service is left to create its own', async (t) => {
  const { dataFolder } = prepare(t);
  delete process.env[preparedDatabaseVariable];
  await copyPreparedDatabase(dataFolder);
  assert.throws(() => statSync(dataFolder), /ENOENT/);
});
