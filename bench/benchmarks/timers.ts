/**
 * Timers with two servers on one PostgreSQL: spread over a minute, all in one second, and all in one second while
 * one of the servers is killed and started again. No agent runs what they start.
 */
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { EmbeddedPostgres } from '../../server/src/ground/database/embedded.ts';
import { connect, type Database } from '../../server/src/ground/database/open.ts';
import { runOnServer } from '../../server/testing/database-server.ts';
import { startAgent } from '../measure/agents.ts';
import { createEnvironment, deployAndWatch } from '../measure/deployments.ts';
import { type Bench, type BenchResult, figure } from '../measure/figure.ts';
import { putLoad } from '../measure/load.ts';
import { copyEnvironment } from '../measure/many-environments.ts';
import { makeRepository, oneResource } from '../measure/repository.ts';
import { type BenchService, scratchFolder, startService } from '../measure/service.ts';

const readers = 4;
/** Time for a set of timers to be stored before the first is due. */
const leadSeconds = 5;
const patienceSeconds = 300;

interface TimerInstallation {
  readonly database: Database;
  /** Started again in the place of one that was killed. */
  readonly services: BenchService[];
  startServer(index: number): Promise<void>;
}

async function open(stack: AsyncDisposableStack): Promise<TimerInstallation & { repositories: string }> {
  const folder = stack.use(await scratchFolder());
  const place = join(folder.path, 'database');
  await mkdir(place);
  const embedded = stack.use(await EmbeddedPostgres.open(place));
  await runOnServer(embedded.address, 'create database envarium');
  const { host, user } = embedded.address;
  const settings = {
    DATABASE_URL: `postgres://${user}@localhost/envarium?host=${encodeURIComponent(host)}`,
    ENVARIUM_BLOB_DIR: join(folder.path, 'blobs'),
    ENVARIUM_SEALING_KEY_FILE: join(folder.path, 'sealing.key'),
    ENVARIUM_BOOTSTRAP_API_SECRET: randomBytes(32).toString('base64url'),
    ENVARIUM_BUILT_IN_AGENT: 'false',
  };
  const services: BenchService[] = [];
  const startServer = async (index: number) => {
    const own = { ...folder, data: join(folder.path, `data-${index}`) };
    const follows = services[index];
    services[index] = stack.use(await startService(own, { settings, ...(follows ? { follows } : {}) }));
  };
  for (const index of [0, 1]) await startServer(index);
  const database = stack.use(connect({ ...embedded.address, database: 'envarium' }));
  return { database, services, startServer, repositories: folder.repositories };
}

interface Timers {
  readonly place: TimerInstallation;
  /** Copies with a higher number than this are theirs. */
  readonly after: number;
  readonly count: number;
}

/** Their lifetimes end one after the other. @returns when the first one does */
async function storeLifetimes({ place: { database }, after, count }: Timers, seconds: number): Promise<Date> {
  const start = new Date(Date.now() + leadSeconds * 1000);
  await sql`update environment set next_ttl_at = at, lifespan_end_at = at, marked_for_auto_destroy = 3
    from (select id, ${start}::timestamptz + (row_number() over () - 1) * ${seconds / count}::float8 * interval '1 second' as at
      from environment where split_part(name, ' ', 2)::int > ${after}) due
    where due.id = environment.id`.execute(database.db);
  return start;
}

/** All are deployed at the same time. @returns when */
async function storeSchedules({ place: { database }, after }: Timers): Promise<Date> {
  const start = new Date(Date.now() + leadSeconds * 1000);
  await sql`insert into schedule (environment_id, action, id, cron, is_enabled, next_run_at, created_by)
    select id, 'deploy', gen_random_uuid(), '0 0 1 1 *', true, ${start}, user_id
    from environment where split_part(name, ' ', 2)::int > ${after}`.execute(database.db);
  return start;
}

/** Delay with which each deployment of a timer was queued, in milliseconds; one for each environment. */
async function untilAllFired({ place: { database }, after, count }: Timers, start: Date): Promise<number[]> {
  const read = () =>
    sql<{ late: number; runs: number }>`
      select extract(epoch from min(d.queued_at) - coalesce(e.lifespan_end_at, ${start}::timestamptz)) * 1000 as late,
        count(*)::int as runs
      from environment e join deployment d on d.environment_id = e.id and d.trigger in ('ttl', 'scheduled')
      where split_part(e.name, ' ', 2)::int > ${after}
      group by e.id, e.lifespan_end_at`.execute(database.db);
  const deadline = Date.now() + (leadSeconds + patienceSeconds) * 1000;
  for (;;) {
    const { rows } = await read();
    const twice = rows.filter(({ runs }) => runs > 1).length;
    if (twice > 0) throw new Error(`${twice} timers fired twice`);
    if (rows.length === count) return rows.map(({ late }) => Number(late));
    if (Date.now() > deadline) throw new Error(`${count - rows.length} of ${count} timers were lost`);
    await delay(500);
  }
}

/** The times of reads at both servers while something happens, in milliseconds. */
async function readingWhile<Result>(
  { services }: TimerInstallation,
  work: Promise<Result>,
): Promise<{ result: Result; latencies: number[] }> {
  let isOver = false;
  const ended = work.finally(() => {
    isOver = true;
  });
  const latencies: number[] = [];
  const readFrom = async ({ url, key, secret }: BenchService) => {
    const headers = { authorization: `Basic ${Buffer.from(`${key}:${secret}`).toString('base64')}` };
    while (!isOver) {
      const load = {
        url: `${url}/api/environments?limit=50`,
        headers,
        connections: readers / 2,
        milliseconds: 500,
      };
      latencies.push(...(await putLoad(load)).latencies);
    }
  };
  const [result] = await Promise.all([ended, ...services.map(readFrom)]);
  return { result, latencies };
}

async function killAndStartAgain({ place }: Timers, start: Date): Promise<void> {
  await delay(start.getTime() + 1000 - Date.now());
  const pid = place.services[0]?.pid ?? 0;
  process.kill(pid, 'SIGKILL');
  await delay(1000);
  await place.startServer(0);
}

export const timersBench: Bench = async ({ isQuick }): Promise<BenchResult> => {
  const count = isQuick ? 500 : 10_000;
  const seconds = isQuick ? 5 : 60;
  await using stack = new AsyncDisposableStack();
  const place = await open(stack);
  const [service] = place.services as [BenchService, BenchService];
  const repository = await makeRepository(place.repositories, 'one', oneResource);
  const id = await createEnvironment(service, repository, false);
  const agent = stack.use(await startAgent(service, 1));
  await deployAndWatch(service, id);
  await agent.stop();
  await sql`update environment set name = 'original 0' where id = ${id}`.execute(place.database.db);
  const copies = async (round: number): Promise<Timers> => {
    const after = round * count;
    await copyEnvironment(place.database, id, { environments: count, deploymentsEach: 1, after });
    // Sealed for the deployment that was copied; and schedules repeat what has worked once.
    await sql`update deployment set sealed_inputs = null, status = 'SUCCESS'
      where environment_id <> ${id} and trigger = 'user'`.execute(place.database.db);
    await sql`update environment set status = 'ACTIVE' where status = 'FAILED'`.execute(place.database.db);
    return { place, after, count };
  };

  const spread = await copies(0);
  const spreadStart = await storeLifetimes(spread, seconds);
  const spreadLate = await untilAllFired(spread, spreadStart);
  const burst = await copies(1);
  const burstStart = await storeSchedules(burst);
  await delay(burstStart.getTime() - Date.now());
  const { result: burstLate, latencies } = await readingWhile(place, untilAllFired(burst, burstStart));
  const killed = await copies(2);
  const killedStart = await storeSchedules(killed);
  const [killedLate] = await Promise.all([
    untilAllFired(killed, killedStart),
    killAndStartAgain(killed, killedStart),
  ]);
  return {
    figures: [
      figure(`spread over ${seconds} s: from the time to QUEUED`, 'ms', spreadLate),
      figure('all in one second: from the time to QUEUED', 'ms', burstLate),
      figure('all in one second: a page of 50 environments meanwhile', 'ms', latencies),
      figure('all in one second, one server killed: from the time to QUEUED', 'ms', killedLate),
    ],
    settings: { timers: count, servers: 2, 'fired twice': 0, lost: 0 },
  };
};
