/** SQL of jobs, attempts and the processes that hold them. */
import type { Selectable } from 'kysely';
import { sql } from 'kysely';
import type { AgentProcessRow } from '../agents/process-store.ts';
import type { BlobRef } from '../blobs/blob-store.ts';
import type { Connection } from '../context.ts';
import type { AttemptTable, JobTable } from '../database/schema.ts';

export type AttemptRow = Selectable<AttemptTable>;
export type JobRow = Selectable<JobTable>;

/** An attempt with its job and what of its deployment every call about it needs. */
export interface AttemptInPlace {
  readonly attempt: AttemptRow;
  readonly job: JobRow;
  readonly environmentId: string;
}

export async function getAttempt(
  db: Connection,
  jobId: string,
  number: number,
): Promise<AttemptInPlace | undefined> {
  const attempt = await db
    .selectFrom('attempt')
    .selectAll()
    .where('job_id', '=', jobId)
    .where('number', '=', number)
    .executeTakeFirst();
  if (!attempt) return undefined;
  const { environment_id: environmentId, ...job } = await db
    .selectFrom('job')
    .innerJoin('deployment', 'deployment.id', 'job.deployment_id')
    .selectAll('job')
    .select('deployment.environment_id')
    .where('job.id', '=', jobId)
    .executeTakeFirstOrThrow();
  return { attempt, job, environmentId };
}

/**
 * Locks an attempt and reads its current row: callers that wait for this lock see what was stored meanwhile.
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

/** The next queued job that this agent can take; others that claim at the same time skip it. */
export async function takeQueuedJob(
  tx: Connection,
  agent: Pick<AgentProcessRow, 'tools' | 'work_folder' | 'protocol_minor'>,
): Promise<JobRow | undefined> {
  return tx
    .selectFrom('job')
    .selectAll()
    .where('status', '=', 'queued')
    .where('tool', 'in', agent.tools)
    .where('protocol_minor', '<=', agent.protocol_minor)
    .where((eb) => eb.or([eb('work_folder', 'is', null), eb('work_folder', '=', agent.work_folder)]))
    .orderBy('created_at')
    .orderBy('id')
    .limit(1)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
}

/** A new attempt of a job under a new fence, which makes every older one void. */
export async function insertAttempt(
  tx: Connection,
  job: JobRow,
  agentProcessId: string,
  at: Date,
): Promise<AttemptRow> {
  const { attempts } = await tx
    .updateTable('job')
    .set({ status: 'claimed', attempts: sql`attempts + 1` })
    .where('id', '=', job.id)
    .returning('attempts')
    .executeTakeFirstOrThrow();
  return tx
    .insertInto('attempt')
    .values({
      job_id: job.id,
      number: attempts,
      fence: sql<number>`nextval('fence')`,
      agent_process_id: agentProcessId,
      status: 'claimed',
      claimed_at: at,
    })
    .returningAll()
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

export async function endAttempt(
  tx: Connection,
  attempt: Pick<AttemptRow, 'job_id' | 'number'>,
  outcomeSha256: string | null,
  at: Date,
): Promise<void> {
  await tx
    .updateTable('attempt')
    .set({ status: 'ended', ended_at: at, outcome_sha256: outcomeSha256 })
    .where('job_id', '=', attempt.job_id)
    .where('number', '=', attempt.number)
    .execute();
}

/** The agent that runs each of several deployments, or ran it last. @returns its id, by deployment */
export async function lastAgents(
  db: Connection,
  deploymentIds: readonly string[],
): Promise<Map<string, string>> {
  if (deploymentIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('job')
    .innerJoin('attempt', 'attempt.job_id', 'job.id')
    .innerJoin('agent_process', 'agent_process.id', 'attempt.agent_process_id')
    .innerJoin('agent', 'agent.agent_key', 'agent_process.agent_key')
    .select(['job.deployment_id', 'agent.id'])
    .where('job.deployment_id', 'in', [...deploymentIds])
    .orderBy('attempt.fence')
    .execute();
  return new Map(rows.map((row) => [row.deployment_id, row.id]));
}

/** Deletes what the runs of an environment have stored. @returns the files, which the caller must remove */
export async function deleteAttemptBlobs(tx: Connection, environmentId: string): Promise<BlobRef[]> {
  const rows = await tx
    .deleteFrom('attempt_blob')
    .where('job_id', 'in', (eb) =>
      eb
        .selectFrom('job')
        .innerJoin('deployment', 'deployment.id', 'job.deployment_id')
        .select('job.id')
        .where('deployment.environment_id', '=', environmentId),
    )
    .returning('blob')
    .execute();
  return rows.map(({ blob }) => blob);
}
