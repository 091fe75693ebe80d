/** Reads data from the embedded database of a running service that its API does not provide. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { openDataFolder } from '../server/src/config/data-folder.ts';
import { superuser } from '../server/src/database/cluster.ts';
import { connect, type Database } from '../server/src/database/open.ts';
import type { Service } from './service.ts';

interface Postmaster {
  readonly pid: number;
  readonly socketFolder: string;
}

/** Process and socket of the service's PostgreSQL. */
export async function findPostmaster(service: Service): Promise<Postmaster> {
  const { place } = openDataFolder(service.folder.data);
  const lines = (await readFile(join(place, 'postgresql', 'data', 'postmaster.pid'), 'utf8')).split('\n');
  return { pid: Number(lines[0]), socketFolder: lines[4] ?? '' };
}

export async function connectTo(service: Service): Promise<Database> {
  const { socketFolder } = await findPostmaster(service);
  return connect({ host: socketFolder, port: 5432, user: superuser, database: 'envarium', ssl: false });
}

interface ProcessEvent {
  readonly at: string;
  readonly program: string;
  readonly label: string;
  readonly milliseconds: number;
  readonly cpuMilliseconds: number;
}

/** One process of a deployment, in milliseconds since the epoch. */
export interface Mark {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly program: string;
  /** Milliseconds of processor time, with its sandbox. */
  readonly cpu: number;
}

/**
 * The git and tool processes of a deployment, one after another, without other processes that ran at the
 * same time.
 */
export async function processesOf({ db }: Database, deploymentId: string): Promise<Mark[]> {
  const rows = await db
    .selectFrom('deployment_event')
    .select('data')
    .where('deployment_id', '=', deploymentId)
    .where('name', '=', 'process')
    .orderBy('number')
    .execute();
  return rows
    .map(({ data }) => data as ProcessEvent)
    .filter(({ program }) => program === 'git' || program === 'terraform')
    .map(({ at, program, label, milliseconds, cpuMilliseconds }) => ({
      name: label,
      program,
      cpu: cpuMilliseconds,
      from: Date.parse(at) - milliseconds,
      to: Date.parse(at),
    }));
}

/** When each phase of a deployment was queued, claimed and ended, by the server's clock. */
export async function phasesOf({ db }: Database, deploymentId: string) {
  return db
    .selectFrom('job')
    .innerJoin('attempt', 'attempt.job_id', 'job.id')
    .select(['job.phase', 'job.created_at', 'attempt.claimed_at', 'attempt.ended_at'])
    .where('job.deployment_id', '=', deploymentId)
    .orderBy('attempt.fence')
    .execute();
}

/** The planner knows the tables as they are now. */
export async function analyze({ db }: Database): Promise<void> {
  await sql`analyze`.execute(db);
}
