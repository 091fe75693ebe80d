/** Opens the database that the settings name, or the embedded one. */
import { Kysely } from 'kysely';
import pg from 'pg';
import { parseExactly } from '#contract/schema/exact-json.ts';
import type { Schema } from '../../rows/schema.ts';
import type { ServerSettings } from '../config/config.ts';
import { openDataFolder } from '../config/data-folder.ts';
import type { AccountSettings } from './account.ts';
import { EmbeddedPostgres, type SupervisorLog } from './embedded.ts';
import { PipelineDialect } from './pipeline.ts';
import { PreparingClient } from './prepared.ts';
import { SharedClient } from './shared-client.ts';
import { sqlState } from './transaction.ts';

export interface Database extends AsyncDisposable {
  readonly db: Kysely<Schema>;
  readonly pool: pg.Pool;
  /** The same database by a few connections of its own. */
  readonly reserved: Kysely<Schema>;
  /** The same database by one connection that all share, for short reads of single rows without locks. */
  readonly shared: Kysely<Schema>;
  /** For connections outside of the pool, such as one that listens. */
  readonly address: pg.ClientConfig;
  /** Process id of the embedded PostgreSQL; null with DATABASE_URL. */
  readonly embeddedPid: number | null;
}

const databaseName = 'envarium';
const oldestVersion = 150_000;
const poolSize = 20;
/** Connections that requests of people cannot occupy: for readiness, heartbeats and claims of agents. */
const reservedSize = 4;

/** After these times PostgreSQL ends a statement, a wait for a lock, and a transaction that does nothing. */
const timeLimits = {
  statement_timeout: 60_000,
  lock_timeout: 20_000,
  // Effects work for up to a minute under their claim.
  idle_in_transaction_session_timeout: 120_000,
} as const;
const waitMilliseconds = 15_000;
/**
 * Maximum wait for a reply on the shared connection, whose statements take milliseconds: a connection
 * that has fallen silent would otherwise delay all callers.
 */
const sharedAnswerMilliseconds = 10_000;

/** Sets the limits of a connection to none, for work that takes as long as it takes. */
export const withoutTimeLimits = Object.keys(timeLimits)
  .map((name) => `set ${name} = 0`)
  .join('; ');
/** Sets them again. */
export const withTimeLimits = Object.entries(timeLimits)
  .map(([name, milliseconds]) => `set ${name} = ${milliseconds}`)
  .join('; ');
const noSuchDatabase = '3D000';
/** Unused connections are checked, and are forgotten about 20 seconds later. */
export const keptAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 } as const;

/**
 * @param settings `databaseUrl`, or else `dataFolder` for the embedded database, and what it runs as
 * @param log is informed when the embedded database had to be restarted
 * @returns the open database, not migrated; dispose it to close connections and to stop an embedded one
 * @throws Error that says why it cannot be opened
 */
export async function openDatabase(
  settings: Pick<ServerSettings, 'databaseUrl' | 'dataFolder'> & { readonly account?: AccountSettings },
  log?: SupervisorLog,
): Promise<Database> {
  if (settings.databaseUrl) return openExternal(settings.databaseUrl.reveal());
  const { place } = openDataFolder(settings.dataFolder);
  const embedded = await EmbeddedPostgres.open(place, { log, account: settings.account });
  try {
    const address = { ...embedded.address, database: databaseName };
    await ensureDatabase(address);
    return connect(address, embedded, log);
  } catch (error) {
    await embedded[Symbol.asyncDispose]();
    throw error;
  }
}

/** Connects to a database by its address, whichever server it is. */
export function connect(
  address: pg.ClientConfig,
  embedded: EmbeddedPostgres | null = null,
  log?: SupervisorLog,
): Database {
  const pool = openPool(address, poolSize, log);
  const reservedPool = openPool(address, reservedSize, log);
  const db = new Kysely<Schema>({ dialect: new PipelineDialect({ pool }) });
  const reserved = new Kysely<Schema>({ dialect: new PipelineDialect({ pool: reservedPool }) });
  const sharedClient = new SharedClient(
    openPool({ query_timeout: sharedAnswerMilliseconds, ...address }, 1, log),
  );
  const shared = new Kysely<Schema>({ dialect: new PipelineDialect({ pool: sharedClient }) });
  return {
    db,
    pool,
    reserved,
    shared,
    address,
    get embeddedPid() {
      return embedded?.pid ?? null;
    },
    async [Symbol.asyncDispose]() {
      if (!pool.ended && !pool.ending) await db.destroy();
      if (!reservedPool.ended && !reservedPool.ending) await reserved.destroy();
      await sharedClient.end();
      await embedded?.[Symbol.asyncDispose]();
    },
  };
}

function openPool(address: pg.ClientConfig, max: number, log: SupervisorLog | undefined): pg.Pool {
  const pool = new pg.Pool({
    application_name: 'envarium',
    connectionTimeoutMillis: waitMilliseconds,
    ...keptAlive,
    ...address,
    max,
    types,
    Client: PreparingClient,
    pipeline: true,
    // Before the first statement of the connection's user: the pool waits for it, which its types omit.
    onConnect: (client): unknown => client.query(withTimeLimits),
  });
  // Without a listener, these events would end the process. They are expected while the pool ends.
  const tell = (error: Error) => {
    if (!pool.ending) log?.warn({ reason: error.message }, 'database connection lost');
  };
  pool.on('error', tell);
  pool.on('connect', (client) => {
    client.on('error', tell);
  });
  return pool;
}

async function openExternal(url: string): Promise<Database> {
  const database = connect({ connectionString: url, connectionTimeoutMillis: 10_000 });
  try {
    const { rows } = await database.pool.query<{ version: string }>(
      "select current_setting('server_version_num') as version",
    );
    const version = Number(rows[0]?.version);
    if (version >= oldestVersion) return database;
    throw new Error(`it runs PostgreSQL ${Math.floor(version / 10_000)}, but 15 or later is required`);
  } catch (error) {
    await database[Symbol.asyncDispose]();
    throw new Error(
      `The database in DATABASE_URL cannot be used: ${(error as Error).message || sqlState(error)}.`,
      {
        cause: error,
      },
    );
  }
}

async function ensureDatabase(address: pg.ClientConfig): Promise<void> {
  if (await exists(address)) return;
  const client = new pg.Client({ ...address, database: 'postgres' });
  await client.connect();
  try {
    await client.query(`create database ${databaseName}`);
  } finally {
    await client.end();
  }
}

async function exists(address: pg.ClientConfig): Promise<boolean> {
  const client = new pg.Client(address);
  try {
    await client.connect();
    return true;
  } catch (error) {
    if (sqlState(error) === noSuchDatabase) return false;
    throw error;
  } finally {
    await client.end();
  }
}

/**
 * Whole numbers of 8 bytes as numbers: none of ours comes near 2^53. JSON has values of tools in it, whose
 * numbers keep every digit. Everything else as `pg` reads it.
 */
const parsers: Readonly<Record<number, (text: string) => unknown>> = {
  [pg.types.builtins.INT8]: Number,
  [pg.types.builtins.JSON]: parseExactly,
  [pg.types.builtins.JSONB]: parseExactly,
};

const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    (format === 'binary' ? undefined : parsers[oid]) ??
    pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
};
