/** Enqueues work for an agent along with its deployment, in the same transaction. */
import type { Insertable } from 'kysely';
import type { DeploymentType } from '#contract/schema/enumerations.ts';
import type { Context } from '../../framework/context.ts';
import { insertJob, type JobRow, setJobStatus } from '../../rows/queue/job-store.ts';
import type { JobTable } from '../../rows/schema.ts';
import { rankOf } from './job-rank.ts';

/**
 * The channel on which waiting claims are woken. The payload is the id of an agent process that should get the job if
 * it is waiting, or empty.
 */
export const jobsChannel = 'jobs';

export interface NewJob {
  readonly deploymentId: string;
  readonly type: DeploymentType;
  readonly phase: 'plan' | 'apply';
  readonly tool: string;
  /** Of the deployment; absent: the first one. */
  readonly level?: number;
  /** The folder that the plan was made in: only an agent that has it can apply. */
  readonly workFolder: string | null;
}

/** Jobs that wait for an agent: the row of a queued job, before or after it is stored. */
export type QueuedJob = Insertable<JobTable> & Pick<JobRow, 'id' | 'work_folder' | 'created_at'>;

/** The row of a queued job. */
export function newJob(context: Context, job: NewJob): QueuedJob {
  const createdAt = context.now();
  return {
    id: context.newId(),
    deployment_id: job.deploymentId,
    phase: job.phase,
    level: job.level ?? 1,
    status: 'queued',
    tool: job.tool,
    work_folder: job.workFolder,
    created_at: createdAt,
    ...rankOf({ phase: job.phase, type: job.type, createdAt }),
  };
}

/** Stores a job and wakes waiting claims. */
export async function enqueueJob(context: Context, job: QueuedJob): Promise<void> {
  await insertJob(context.db, job);
  await context.events.publish(context.db, jobsChannel);
}

/** The job comes back into the queue, after an attempt that changed nothing. */
export async function requeueJob(context: Context, jobId: string): Promise<void> {
  await setJobStatus(context.db, jobId, 'queued');
  await context.events.publish(context.db, jobsChannel);
}
