/** Carries out what was decided about a plan or the end of a phase. */
import type { Updateable } from 'kysely';
import type { DeploymentStatus, StepStatus } from '#contract/schema/enumerations.ts';
import type { Context } from '../../../framework/context.ts';
import {
  type DeploymentRow,
  type LockedDeployment,
  updateDeploymentRow,
} from '../../../rows/deployments/deployment-store.ts';
import { setStepStatus, skipRemainingSteps } from '../../../rows/logs/step-store.ts';
import type { DeploymentTable } from '../../../rows/schema.ts';
import { recordEvent } from '../../feeds/record-event.ts';
import { stepView } from '../../logs/step-view.ts';
import type { PlannedDecision } from '../decisions/decide-next.ts';
import { advanceQueue } from './advance-queue.ts';
import { moveDeployment } from './move-deployment.ts';
import { carryResults } from './skipped-apply.ts';

export const outdatedMessage = 'The plan is outdated: the state has changed since it was made. Deploy again';

/** Sets one of the steps that no tool runs. */
export async function markStep(
  context: Context,
  deployment: DeploymentRow,
  name: string,
  status: StepStatus,
): Promise<void> {
  const row = await setStepStatus(context.db, deployment.id, name, status, context.now());
  if (row) await recordEvent(context, deployment.id, 'step', stepView(row, deployment));
}

/** No one has to decide, and no tool runs: none of the steps after the plan will begin. */
async function skipRest(context: Context, deployment: DeploymentRow): Promise<void> {
  await carryResults(context, deployment);
  for (const row of await skipRemainingSteps(context.db, deployment.id))
    await recordEvent(context, deployment.id, 'step', stepView(row, deployment));
}

/** @param changes what the outcome brings, written with the move */
async function end(
  context: Context,
  locked: LockedDeployment,
  status: DeploymentStatus,
  changes: Updateable<DeploymentTable>,
): Promise<void> {
  const isUnexplained =
    status !== 'SUCCESS' && locked.deployment.error === null && changes.error === undefined;
  const message = status === 'ABORTED' ? 'The run was aborted' : 'Unknown Error';
  const error = isUnexplained ? { error: JSON.stringify({ message }) } : {};
  const moved = await moveDeployment(context, locked, status, { ...changes, ...error });
  await advanceQueue(context, moved.environment, moved.speakers);
}

/**
 * Moves the deployment, unless its apply follows at once.
 * @param changes what else changes of its row
 * @param isApproved the plan was already approved
 * @returns both rows as they are now if the apply follows, which the caller hands on; else null
 */
export async function followDecision(
  context: Context,
  locked: LockedDeployment,
  decision: PlannedDecision,
  changes: Updateable<DeploymentTable>,
  isApproved = false,
): Promise<LockedDeployment | null> {
  const { deployment: before, environment } = locked;
  if (changes.is_skipped_apply === true) await skipRest(context, before);
  if (decision.kind === 'end') await end(context, locked, decision.status, changes);
  if (decision.kind === 'wait') {
    await markStep(context, before, 'approval:wait', 'WAITING_FOR_USER');
    await moveDeployment(context, locked, 'WAITING_FOR_USER', changes);
  }
  if (decision.kind !== 'apply') return null;
  const [deployment] = await Promise.all([
    updateDeploymentRow(context.db, before.id, changes),
    isApproved || markStep(context, before, 'approval:wait', 'SKIPPED'),
  ]);
  return { deployment, environment };
}
