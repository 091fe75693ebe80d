/** Resources of an idle installation after its runs have ended: none of them may belong to a run. */
import { readdir, utimes } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client as Database } from 'pg';
import { withDatabase } from '../database.ts';
import { type ProcessRow, processesOf, programOf } from '../recovery/processes.ts';
import type { Installation } from './installation.ts';

/** One thing that may leak, with what was found of it. */
export interface Leak {
  readonly what: string;
  readonly leaked: readonly string[];
}

/** Resources of an installation that is idle. */
export interface Idle {
  readonly connections: number;
}

const patienceMilliseconds = 60_000;
const pollMilliseconds = 500;

/** Rows that exist only while a run is active. */
const rows: Readonly<Record<string, string>> = {
  'open jobs': "select id::text as found from job where status <> 'done'",
  'open attempts': "select job_id || '/' || number as found from attempt where status <> 'ended'",
  'open deployments':
    "select id || ' ' || status as found from deployment where status in ('QUEUED', 'IN_PROGRESS', 'WAITING_FOR_USER', 'ABORTING')",
  'running steps':
    "select deployment_id || ' ' || name as found from deployment_step where status in ('IN_PROGRESS', 'WAITING_FOR_USER')",
  'environments in progress':
    "select name || ' ' || status as found from environment where status like '%IN_PROGRESS' or status in ('ABORTING', 'WAITING_FOR_USER')",
  'environments with a lock': 'select name as found from environment where is_locked',
  'state locks': 'select environment_id::text as found from state_lock',
  'effects not carried out': "select kind || ' ' || coalesce(last_error, '') as found from effect",
  'stored plans and trees of ended runs': "select job_id || '/' || name as found from attempt_blob",
  'database locks':
    "select locktype || ' ' || mode as found from pg_locks where locktype in ('advisory', 'transactionid', 'tuple')",
  'open transactions':
    "select query as found from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid() and state <> 'idle'",
};

/** To be called before there was any run. */
export async function idleOf(installation: Installation): Promise<Idle> {
  return withDatabase(installation, async (database) => ({ connections: await countConnections(database) }));
}

async function countConnections(database: Database): Promise<number> {
  const { rows: found } = await database.query<{ count: string }>(
    "select count(*) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()",
  );
  return Number(found[0]?.count);
}

/** Waits until nothing is left, as long as that is to be expected. @returns every kind of leak, with what was found of it */
export async function findLeaks(installation: Installation, idle: Idle): Promise<Leak[]> {
  await ageFiles(blobsOf(installation));
  await installation.restart();
  const deadline = Date.now() + patienceMilliseconds;
  for (;;) {
    const leaks = await findOnce(installation, idle).catch((error: unknown) => [
      { what: 'the database', leaked: [(error as Error).message] },
    ]);
    if (leaks.every(({ leaked }) => leaked.length === 0) || Date.now() > deadline) return leaks;
    await delay(pollMilliseconds);
  }
}

const blobsOf = ({ folder }: Installation) => join(folder, 'data', 'blobs');

/** A service that was killed between a file and its row leaves a file, and every service removes old ones as it starts. */
async function ageFiles(folder: string): Promise<void> {
  const old = new Date(Date.now() - 24 * 3_600_000);
  for (const path of await list(folder, { recursive: true })) await utimes(join(folder, path), old, old);
}

async function findOnce(installation: Installation, idle: Idle): Promise<Leak[]> {
  const inDatabase = await withDatabase(installation, async (database) => {
    const found: Leak[] = [];
    for (const [what, query] of Object.entries(rows))
      found.push({
        what,
        leaked: (await database.query<{ found: string }>(query)).rows.map((row) => row.found),
      });
    const connections = await countConnections(database);
    const more = connections - idle.connections;
    found.push({ what: 'database connections', leaked: more > 0 ? [`${more} more than before`] : [] });
    return found;
  });
  return [...inDatabase, ...(await filesLeft(installation)), ...(await processesLeft(installation))];
}

/**
 * Left on purpose: the folder of a failed run whose state may be incomplete, and the trees of a few plans, which an agent
 * removes after some time if they are applied elsewhere.
 */
const wanted = /\.(kept|planned)-/;

async function filesLeft(installation: Installation): Promise<Leak[]> {
  const { spools, workFolder } = installation;
  const attempts = (await Promise.all(spools.map((spool) => list(join(spool, 'attempts'))))).flat();
  const trees = (await list(workFolder)).filter((name) => !name.startsWith('.') && !wanted.test(name));
  const blobs = blobsOf(installation);
  const entries = await readdir(blobs, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(blobs, join(entry.parentPath, entry.name)))
    .filter((file) => file !== 'installation-id');
  const known = await knownBlobs(installation);
  return [
    { what: 'attempts in spool folders', leaked: attempts },
    { what: 'trees in the work folder', leaked: trees },
    { what: 'files without a row', leaked: files.filter((file) => !known.has(file)) },
    { what: 'rows without a file', leaked: [...known].filter((id) => !files.includes(id)) },
  ];
}

async function list(folder: string, options: { readonly recursive?: boolean } = {}): Promise<string[]> {
  return readdir(folder, options).catch(() => []);
}

async function knownBlobs(installation: Installation): Promise<Set<string>> {
  return withDatabase(installation, async (database) => {
    const { rows: found } = await database.query<{ id: string }>(
      "select blob->>'id' as id from state_version where blob->>'sealed' is null",
    );
    return new Set(found.map(({ id }) => id));
  });
}

/** Whether a process is a command of a run; the reader (tree-server) that each runner keeps for its runs is not. */
export function isOfRun(process: Pick<ProcessRow, 'command'>): boolean {
  return (
    /^(terraform|tofu|git|bwrap)|sh$/.test(programOf(process)) && !/ tree-server\b/.test(process.command)
  );
}

/** Commands of runs, and what no one waits for any more. */
async function processesLeft(installation: Installation): Promise<Leak[]> {
  const all = await processesOf(installation.folder);
  const commands = all.filter(isOfRun);
  const orphans = all.filter(({ parent, command }) => parent === 1 && !/postgres/.test(command));
  return [
    { what: 'processes of runs', leaked: commands.map(({ pid, command }) => `${pid} ${command}`) },
    { what: 'processes without a parent', leaked: orphans.map(({ pid, command }) => `${pid} ${command}`) },
  ];
}

/** After both have been stopped. */
export async function findProcesses(installation: Installation): Promise<Leak> {
  const deadline = Date.now() + patienceMilliseconds;
  for (;;) {
    const left = await processesOf(installation.folder);
    if (left.length === 0 || Date.now() > deadline)
      return { what: 'processes after the end', leaked: left.map(({ pid, command }) => `${pid} ${command}`) };
    await delay(pollMilliseconds);
  }
}
