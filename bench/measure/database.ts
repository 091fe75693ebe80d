/** Reads data from the embedded database of a running service that its API does not provide. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openDataFolder } from '../../server/src/ground/config/data-folder.ts';
import { superuser } from '../../server/src/ground/database/cluster.ts';
import {
  connect,
  type Database,
  withoutTimeLimits,
  withTimeLimits,
} from '../../server/src/ground/database/open.ts';
import type { BenchService } from './service.ts';

interface PostgresProcess {
  readonly pid: number;
  readonly socketFolder: string;
}

/** Process and socket of the service's PostgreSQL. */
export async function findPostmaster(service: BenchService): Promise<PostgresProcess> {
  const { place } = openDataFolder(service.folder.data);
  const lines = (await readFile(join(place, 'postgresql', 'data', 'postmaster.pid'), 'utf8')).split('\n');
  return { pid: Number(lines[0]), socketFolder: lines[4] ?? '' };
}

export async function connectTo(service: BenchService): Promise<Database> {
  const { socketFolder } = await findPostmaster(service);
  return connect({ host: socketFolder, port: 5432, user: superuser, database: 'envarium', ssl: false });
}

/** Executes statements that may take longer than those of the service. */
export async function executeLong({ pool }: Database, statements: readonly string[]): Promise<void> {
  const client = await pool.connect();
  try {
    for (const statement of [withoutTimeLimits, ...statements, withTimeLimits]) await client.query(statement);
  } finally {
    client.release();
  }
}
