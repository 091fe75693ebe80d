/** SQL of attempts, with what calls about them need of their jobs, deployments and agents. */
import { type Selectable, sql, type Updateable } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import { statement } from '../../ground/database/prepared.ts';
import type { AttemptTable } from '../schema.ts';

export type AttemptRow = Selectable<AttemptTable>;

/**
 * Locks an attempt and reads its current row: callers that wait for this lock see the latest stored data.
 */
export async function lockAttempt(
  tx: Connection,
  attempt: Pick<AttemptRow, 'job_id' | 'number'>,
): Promise<AttemptRow> {
  return tx
    .selectFrom('attempt')
    .selectAll()
    .where('job_id', '=', attempt.job_id)
    .where('number', '=', attempt.number)
    .forUpdate()
    .executeTakeFirstOrThrow();
}

/** The newest attempt of a job: the one whose fence counts. */
export async function newestAttempt(db: Connection, jobId: string): Promise<AttemptRow | undefined> {
  return db
    .selectFrom('attempt')
    .selectAll()
    .where('job_id', '=', jobId)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();
}

const selectPlanner = statement<Pick<AttemptRow, 'job_id' | 'number' | 'fence' | 'agent_process_id'>>(`
  select attempt.job_id, attempt.number, attempt.fence, attempt.agent_process_id
  from job join attempt on attempt.job_id = job.id and attempt.number = job.attempts
  where job.deployment_id = $1 and job.phase = 'plan'
  order by job.level desc limit 1`);

/** The attempt that planned a deployment, with the agent process that held it. */
export async function getPlanningAttempt(
  db: Connection,
  deploymentId: string,
): Promise<Pick<AttemptRow, 'job_id' | 'number' | 'fence' | 'agent_process_id'> | undefined> {
  const [row] = await selectPlanner(db, deploymentId);
  return row;
}

/** The running attempt of a deployment, whatever its phase. */
export async function openAttemptOf(db: Connection, deploymentId: string): Promise<AttemptRow | undefined> {
  return db
    .selectFrom('attempt')
    .innerJoin('job', 'job.id', 'attempt.job_id')
    .selectAll('attempt')
    .where('job.deployment_id', '=', deploymentId)
    .where('attempt.status', '<>', 'ended')
    .orderBy('attempt.fence', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** Number of attempts of some processes that have not ended. */
export async function countOpenAttempts(db: Connection, processIds: readonly string[]): Promise<number> {
  if (processIds.length === 0) return 0;
  const row = await db
    .selectFrom('attempt')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('agent_process_id', 'in', [...processIds])
    .where('status', '<>', 'ended')
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** Identity of an attempt. */
export type AttemptKey = Pick<AttemptRow, 'job_id' | 'number'>;

export async function updateAttempt(
  tx: Connection,
  attempt: AttemptKey,
  changes: Updateable<AttemptTable>,
): Promise<void> {
  await tx
    .updateTable('attempt')
    .set(changes)
    .where('job_id', '=', attempt.job_id)
    .where('number', '=', attempt.number)
    .execute();
}

export async function endAttempt(
  tx: Connection,
  attempt: AttemptKey,
  outcomeSha256: string | null,
  at: Date,
  times: Pick<Updateable<AttemptTable>, 'received_at' | 'sent_at'> = {},
): Promise<void> {
  await updateAttempt(tx, attempt, {
    status: 'ended',
    ended_at: at,
    outcome_sha256: outcomeSha256,
    ...times,
  });
}

const setMark = statement(`
  update attempt set mark = $3
  where job_id = $1 and number = $2 and status <> 'ended' and (mark is null or mark = $3 or mark = $4)
  returning number`);

/** Marks an attempt that has not ended. @returns false where it has, or has another mark than `replaces` */
export async function takeMark(
  db: Connection,
  attempt: AttemptKey,
  mark: string,
  replaces: string | null,
): Promise<boolean> {
  const rows = await setMark(db, attempt.job_id, attempt.number, mark, replaces);
  return rows.length > 0;
}

/** @returns how often the outcome of an attempt could not be stored, including this time */
export async function countFinishFailure(db: Connection, attempt: AttemptKey): Promise<number> {
  const row = await db
    .updateTable('attempt')
    .set({ finish_failures: sql`finish_failures + 1` })
    .where('job_id', '=', attempt.job_id)
    .where('number', '=', attempt.number)
    .returning('finish_failures')
    .executeTakeFirst();
  return row?.finish_failures ?? 0;
}

export async function isAttemptOver(db: Connection, attempt: AttemptKey): Promise<boolean> {
  const row = await db
    .selectFrom('attempt')
    .select('status')
    .where('job_id', '=', attempt.job_id)
    .where('number', '=', attempt.number)
    .executeTakeFirst();
  return row?.status === 'ended';
}

/** Attempts that an agent process should hold. */
export async function listOpenAttempts(db: Connection, agentProcessId: string): Promise<AttemptRow[]> {
  return db
    .selectFrom('attempt')
    .selectAll()
    .where('agent_process_id', '=', agentProcessId)
    .where('status', '<>', 'ended')
    .execute();
}
