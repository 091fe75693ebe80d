/** The PostgreSQL that tests run on: one for a whole run, or one for a test process (`testing.ts`). */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { slotUidBase } from '../../tools/programs/slot-uid-base.ts';
import { openDataFolder } from '../src/ground/config/data-folder.ts';
import { databaseAccount } from '../src/ground/database/account.ts';
import { openCluster } from '../src/ground/database/cluster.ts';
import { EmbeddedPostgres } from '../src/ground/database/embedded.ts';
import { migrate } from '../src/ground/database/migrate.ts';
import { connect } from '../src/ground/database/open.ts';

export interface TestServer extends AsyncDisposable {
  readonly address: pg.ClientConfig;
}

/** Holds a running server's address as JSON, for the test processes of one run. */
export const testServerVariable = 'TEST_DATABASE_ADDRESS';
export const migratedTemplate = 'template_migrated';

/** A PostgreSQL with a migrated template; it is not durable. */
export async function startTestServer(): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), 'envarium-test-'));
  const { place } = openDataFolder(folder);
  mkdirSync(join(place, 'postgresql', 'config'), { recursive: true });
  writeFileSync(join(place, 'postgresql', 'config', 'custom.conf'), 'fsync = off\nmax_connections = 300\n');
  const embedded = await EmbeddedPostgres.open(place);
  const { address } = embedded;
  await runOnServer(address, `create database ${migratedTemplate}`);
  const database = connect({ ...address, database: migratedTemplate });
  await migrate(database.db);
  await database[Symbol.asyncDispose]();
  // A run that is ended by a signal does not wait for tests that do not end.
  const stopAtExit = () => process.kill(embedded.pid, 'SIGQUIT');
  process.once('exit', stopAtExit);
  return {
    address,
    async [Symbol.asyncDispose]() {
      process.off('exit', stopAtExit);
      await embedded[Symbol.asyncDispose]();
      rmSync(place, { recursive: true, force: true });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A folder of PostgreSQL as a service creates it at its first start, for copies. */
export interface PreparedDatabase extends AsyncDisposable {
  /** Absolute path; no server uses it. */
  readonly folder: string;
}

/** Creates the database that services of tests begin with a copy of. */
export async function prepareDatabase(): Promise<PreparedDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'envarium-prepared-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  // PostgreSQL runs as another user where the tests are root.
  chmodSync(folder, 0o711);
  // The service makes it its own.
  const account = { slotUidBase: Number(slotUidBase()), slotUidCount: 1_000 };
  const { dataFolder } = await openCluster(folder, databaseAccount(account, console.warn));
  return {
    folder: dataFolder,
    async [Symbol.asyncDispose]() {
      process.off('exit', remove);
      remove();
    },
  };
}

/** Runs one statement outside of any transaction. */
export async function runOnServer(address: pg.ClientConfig, statement: string): Promise<void> {
  const client = new pg.Client({ ...address, database: 'postgres' });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
