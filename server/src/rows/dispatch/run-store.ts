/**
 * SQL that joins attempts with their jobs, deployments, environments and agents, where one statement has to
 * read them at once.
 */
import { type Expression, type RawBuilder, sql } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import { statement } from '../../ground/database/prepared.ts';
import type { JobRow } from '../queue/job-store.ts';
import type { AttemptKey, AttemptRow } from './attempt-store.ts';

const beginAttempt = statement<AttemptRow>(`
  with taken as (
    update job set status = 'claimed', attempts = attempts + 1 where id = $1 returning *
  )
  insert into attempt (job_id, number, fence, agent_process_id, status, claimed_at, state_version_id)
  select taken.id, taken.attempts, nextval('fence'), $2, 'claimed', $3, environment.current_state_version_id
  from taken join deployment on deployment.id = taken.deployment_id
    join environment on environment.id = deployment.environment_id
  returning *`);

/**
 * A new attempt of a job under a new fence, which makes every older one void. It has the state on which it
 * begins: its plan is outdated once another one is current.
 */
export async function insertAttempt(
  tx: Connection,
  job: Pick<JobRow, 'id'>,
  agentProcessId: string,
  at: Date,
): Promise<AttemptRow> {
  const [row] = await beginAttempt(tx, job.id, agentProcessId, at);
  if (!row) throw new Error(`Job ${job.id} has lost its deployment or environment`);
  return row;
}

/** Attempts of an agent process whose deployments are to be aborted. */
export async function listAborting(db: Connection, agentProcessId: string): Promise<AttemptKey[]> {
  return db
    .selectFrom('attempt')
    .innerJoin('job', 'job.id', 'attempt.job_id')
    .innerJoin('deployment', 'deployment.id', 'job.deployment_id')
    .select(['attempt.job_id', 'attempt.number'])
    .where('attempt.agent_process_id', '=', agentProcessId)
    .where('attempt.status', '<>', 'ended')
    .where('deployment.status', '=', 'ABORTING')
    .execute();
}

function heldAttempts(db: Connection) {
  return db
    .selectFrom('attempt')
    .innerJoin('agent_process', 'agent_process.id', 'attempt.agent_process_id')
    .innerJoin('job', 'job.id', 'attempt.job_id')
    .innerJoin('deployment', 'deployment.id', 'job.deployment_id')
    .selectAll('attempt')
    .select(['agent_process.contact_at', 'agent_process.hostname', 'deployment.environment_id'])
    .where('attempt.status', '<>', 'ended');
}

/** An open attempt with the last contact of the process that holds it. */
export interface HeldAttemptRow extends AttemptRow {
  readonly contact_at: Date;
  readonly hostname: string;
  readonly environment_id: string;
}

/** Open attempts whose agents have not been heard of since a time. */
export async function listSilentAttempts(db: Connection, since: Date): Promise<HeldAttemptRow[]> {
  return heldAttempts(db).where('agent_process.contact_at', '<', since).execute();
}

/** Locks an attempt with its agent's contact; undefined where it has already ended. */
export async function lockHeldAttempt(
  tx: Connection,
  attempt: AttemptKey,
): Promise<HeldAttemptRow | undefined> {
  return heldAttempts(tx)
    .where('attempt.job_id', '=', attempt.job_id)
    .where('attempt.number', '=', attempt.number)
    .forUpdate('attempt')
    .executeTakeFirst();
}

const attemptsOf = (db: Connection, environmentId: string) =>
  db
    .selectFrom('attempt')
    .innerJoin('job', 'job.id', 'attempt.job_id')
    .innerJoin('deployment', 'deployment.id', 'job.deployment_id')
    .select('attempt.number')
    .where('deployment.environment_id', '=', environmentId);

/** Whether a run of the environment ever began to change resources. */
export async function wasTouched(db: Connection, environmentId: string): Promise<boolean> {
  const marked = await attemptsOf(db, environmentId)
    .where((eb) =>
      eb.or([
        eb('attempt.mark', 'is not', null),
        eb.and([eb('job.phase', '=', 'apply'), eb('attempt.status', '<>', 'ended')]),
      ]),
    )
    .limit(1)
    .executeTakeFirst();
  return marked !== undefined;
}

/** Whether a run of some deployments of the environment, by their numbers, began to change resources. */
export async function wasTouchedBetween(
  db: Connection,
  environmentId: string,
  { after, before }: { readonly after: number; readonly before: number },
): Promise<boolean> {
  const marked = await attemptsOf(db, environmentId)
    .where('attempt.mark', 'is not', null)
    .where('deployment.number', '>', after)
    .where('deployment.number', '<', before)
    .limit(1)
    .executeTakeFirst();
  return marked !== undefined;
}

/** Whether another attempt of the environment is applying changes. */
export async function isAnotherApplying(
  db: Connection,
  environmentId: string,
  attempt: AttemptKey,
): Promise<boolean> {
  const other = await attemptsOf(db, environmentId)
    .where('job.phase', '=', 'apply')
    .where('attempt.status', '<>', 'ended')
    .where((eb) => eb.or([eb('job.id', '<>', attempt.job_id), eb('attempt.number', '<>', attempt.number)]))
    .limit(1)
    .executeTakeFirst();
  return other !== undefined;
}

/** Facts that decide whether a state of an attempt may become the current one. */
export async function getStateSender(db: Connection, attempt: AttemptKey) {
  return db
    .selectFrom('attempt')
    .innerJoin('job', 'job.id', 'attempt.job_id')
    .innerJoin('deployment', 'deployment.id', 'job.deployment_id')
    .select(['attempt.fence', 'attempt.mark', 'job.attempts', 'job.phase', 'deployment.type'])
    .select((eb) =>
      eb
        .exists(
          eb
            .selectFrom('attempt as newer')
            .innerJoin('job as newer_job', 'newer_job.id', 'newer.job_id')
            .innerJoin('deployment as other', 'other.id', 'newer_job.deployment_id')
            .select('newer.fence')
            .whereRef('newer.fence', '>', 'attempt.fence')
            .where('newer.mark', 'is not', null)
            .whereRef('other.environment_id', '=', 'deployment.environment_id'),
        )
        .$castTo<boolean>()
        .as('isNewerMarked'),
    )
    .where('attempt.job_id', '=', attempt.job_id)
    .where('attempt.number', '=', attempt.number)
    .executeTakeFirstOrThrow();
}

export type StateSender = Awaited<ReturnType<typeof getStateSender>>;

/** Current holder of each job. */
export async function listHolders(db: Connection, jobIds: readonly string[]) {
  if (jobIds.length === 0) return [];
  return db
    .selectFrom('attempt')
    .innerJoin('agent_process', 'agent_process.id', 'attempt.agent_process_id')
    .select(['attempt.job_id', 'attempt.mark', 'agent_process.id'])
    .select(['agent_process.hostname', 'agent_process.contact_at'])
    .where('attempt.job_id', 'in', [...jobIds])
    .where('attempt.status', '<>', 'ended')
    .orderBy('attempt.number')
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

/**
 * The same as a column of a statement about deployments. Aggregated: with `order by … limit 1`, PostgreSQL may
 * read the index of all fences from its end.
 */
export function lastAgentOf(deploymentId: Expression<string>): RawBuilder<string | null> {
  return sql`(select (array_agg(agent.id order by attempt.fence desc))[1]
    from job join attempt on attempt.job_id = job.id
    join agent_process on agent_process.id = attempt.agent_process_id
    join agent on agent.agent_key = agent_process.agent_key
    where job.deployment_id = ${deploymentId})`;
}

/** Jobs of several deployments that are not done, with the projects that they are for. */
export async function listOpenJobs(db: Connection, deploymentIds: readonly string[]) {
  if (deploymentIds.length === 0) return [];
  return db
    .selectFrom('job')
    .innerJoin('deployment', 'deployment.id', 'job.deployment_id')
    .selectAll('job')
    .select(['deployment.organization_id', 'deployment.project_id'])
    .where('job.deployment_id', 'in', [...deploymentIds])
    .where('job.status', '<>', 'done')
    .execute();
}

/** Those of several fences whose attempt has not ended, and belongs to an agent process. */
export async function openFences(
  db: Connection,
  agentProcessId: string,
  fences: readonly number[],
): Promise<Set<number>> {
  if (fences.length === 0) return new Set();
  const rows = await db
    .selectFrom('attempt')
    .select('attempt.fence')
    .where('attempt.fence', 'in', [...fences])
    .where('attempt.agent_process_id', '=', agentProcessId)
    .where('attempt.status', '<>', 'ended')
    .execute();
  return new Set(rows.map((row) => row.fence));
}

/** The newest attempt of each job of a deployment's last level, with its times, in the order of the attempts. */
export async function listTimedAttempts(db: Connection, deploymentId: string) {
  return db
    .selectFrom('job')
    .innerJoin('attempt', 'attempt.job_id', 'job.id')
    .innerJoin('attempt as first', (join) =>
      join.onRef('first.job_id', '=', 'job.id').on('first.number', '=', 1),
    )
    .whereRef('attempt.number', '=', 'job.attempts')
    .select([
      'job.phase',
      'job.created_at as createdAt',
      'first.claimed_at as firstClaimedAt',
      'attempt.claimed_at as claimedAt',
      'attempt.ended_at as endedAt',
      'attempt.received_at as receivedAt',
      'attempt.sent_at as sentAt',
    ])
    .where('job.deployment_id', '=', deploymentId)
    .where('job.level', '=', (eb) =>
      eb
        .selectFrom('job as each')
        .select((inner) => inner.fn.max('each.level').as('level'))
        .where('each.deployment_id', '=', deploymentId),
    )
    .orderBy('attempt.fence')
    .execute();
}
