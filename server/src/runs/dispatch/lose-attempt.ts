/**
 * Consequence for a job whose attempt is lost: it runs again on any agent, or ends, if it may have changed
 * the world.
 */
import { toolFacts } from '#protocol/tools/index.ts';
import type { Context } from '../../framework/context.ts';
import {
  type DeploymentRow,
  type LockedDeployment,
  lockDeployment,
} from '../../rows/deployments/deployment-store.ts';
import { outcomeColumns, type ReceivedOutcome } from '../../rows/deployments/outcome-columns.ts';
import { type AttemptRow, endAttempt, lockAttempt } from '../../rows/dispatch/attempt-store.ts';
import { restartSteps } from '../../rows/logs/step-store.ts';
import { getJob, setJobStatus } from '../../rows/queue/job-store.ts';
import { getStateVersionOfAttempt } from '../../rows/state/state-store.ts';
import { decideAfterLoss } from '../deployments/decisions/decide-after-loss.ts';
import { advanceQueue } from '../deployments/transitions/advance-queue.ts';
import { moveDeployment } from '../deployments/transitions/move-deployment.ts';
import { requeueJob } from '../queue/enqueue.ts';

function lossMessage(
  attempt: Pick<AttemptRow, 'mark' | 'number'>,
  { tool, level }: Pick<DeploymentRow, 'tool' | 'level'>,
  reason: string,
): string {
  if (attempt.mark === null)
    return `The run was lost ${attempt.number} times before it made any changes${level === null ? '' : ` at level ${level.number}`}: ${reason}`;
  const kept = toolFacts(tool)?.state === null ? '' : 'What it created is in the last stored state; ';
  const advice = `${kept}check the log and deploy again`;
  return `The run was lost after it had started to make changes: ${reason}. ${advice.replace(/^c/, 'C')}`;
}

/** Ends the job and its deployment, and lets the environment's queue continue. */
export async function giveUp(
  context: Context,
  locked: LockedDeployment,
  attempt: AttemptRow,
  end: { status: 'ABORTED' | 'INTERNAL_FAILURE' | 'FAILURE'; message: string; found?: ReceivedOutcome },
): Promise<DeploymentRow> {
  const [state] = await Promise.all([
    getStateVersionOfAttempt(context.db, attempt.job_id, attempt.number),
    endAttempt(context.db, attempt, null, context.now()),
    setJobStatus(context.db, attempt.job_id, 'done'),
  ]);
  const moved = await moveDeployment(context, locked, end.status, {
    ...(end.found ? outcomeColumns(context, locked.deployment, end.found, null) : {}),
    ...(state ? { state_version_id: state.id } : {}),
    error: JSON.stringify({ message: end.message }),
  });
  await advanceQueue(context, moved.environment, moved.speakers);
  return moved.deployment;
}

/**
 * @param reason continues the sentence "the run was lost: …"
 * @param found what the agent found of the run, where it still could look
 */
export async function loseAttempt(
  context: Context,
  attempt: AttemptRow,
  reason: string,
  found?: ReceivedOutcome,
): Promise<void> {
  const job = await getJob(context.db, attempt.job_id);
  const locked = await lockDeployment(context.db, job.deployment_id);
  // Locked: a start mark that is being stored right now either is seen here, or is refused because the
  // attempt has ended.
  const current = await lockAttempt(context.db, attempt);
  if (!locked || current.status === 'ended') return;
  const { deployment } = locked;
  const next = decideAfterLoss({
    status: deployment.status,
    mark: current.mark,
    attempts: job.attempts,
  });
  if (next === 'again') {
    await endAttempt(context.db, attempt, null, context.now());
    await restartSteps(context.db, deployment.id, job.phase);
    await requeueJob(context, job.id);
    return;
  }
  const status = next === 'aborted' ? 'ABORTED' : 'INTERNAL_FAILURE';
  await giveUp(context, locked, current, {
    status,
    message: lossMessage(current, deployment, reason),
    found,
  });
}
