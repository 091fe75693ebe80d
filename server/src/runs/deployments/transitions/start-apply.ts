/** Hands an approved plan on, to be applied. */
import type { Context } from '../../../framework/context.ts';
import type { DeploymentRow } from '../../../rows/deployments/deployment-store.ts';
import { getPlanningAttempt } from '../../../rows/dispatch/attempt-store.ts';
import { insertJob } from '../../../rows/queue/job-store.ts';
import { jobsChannel, newJob } from '../../queue/enqueue.ts';
import { levelNumber } from '../decisions/decide-level.ts';

/**
 * The agent that planned gets the apply if it is waiting for a job: it may still have the tree. The caller has
 * stored what the deployment proposes.
 */
export async function enqueueApply(
  context: Context,
  { id, tool, type, level, work_folder: workFolder }: DeploymentRow,
): Promise<void> {
  const job = newJob(context, {
    deploymentId: id,
    type,
    phase: 'apply',
    level: levelNumber(level),
    tool,
    workFolder,
  });
  const [planned] = await Promise.all([getPlanningAttempt(context.db, id), insertJob(context.db, job)]);
  await context.events.publish(context.db, jobsChannel, planned?.agent_process_id);
}
