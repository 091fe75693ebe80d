/** Enqueues work for an agent along with its deployment, in the same transaction. */
import type { Connection, Context } from '../context.ts';

/** The channel on which waiting claims are woken. */
export const jobsChannel = 'jobs';

export interface NewJob {
  readonly deploymentId: string;
  readonly phase: 'plan' | 'apply';
  readonly tool: string;
  /** The folder that the plan was made in: only an agent that has it can apply. */
  readonly workFolder: string | null;
  /** What an agent must speak at least to take it, as the protocol's minor version; absent: any. */
  readonly protocolMinor?: number;
}

/** @returns the job's id */
export async function enqueueJob(context: Context, job: NewJob): Promise<string> {
  const id = context.newId();
  await context.db
    .insertInto('job')
    .values({
      id,
      deployment_id: job.deploymentId,
      phase: job.phase,
      status: 'queued',
      tool: job.tool,
      work_folder: job.workFolder,
      protocol_minor: job.protocolMinor ?? 0,
      created_at: context.now(),
    })
    .execute();
  await context.events.publish(context.db, jobsChannel);
  return id;
}

/** The job comes back into the queue, after an attempt that changed nothing. */
export async function requeueJob(context: Context, jobId: string): Promise<void> {
  await context.db.updateTable('job').set({ status: 'queued' }).where('id', '=', jobId).execute();
  await context.events.publish(context.db, jobsChannel);
}

/** Takes a deployment's unclaimed job out of the queue. @returns whether there was one */
export async function withdrawJob(tx: Connection, deploymentId: string): Promise<boolean> {
  const rows = await tx
    .updateTable('job')
    .set({ status: 'done' })
    .where('deployment_id', '=', deploymentId)
    .where('status', '=', 'queued')
    .returning('id')
    .execute();
  return rows.length > 0;
}
