/**
 * The end of a phase: its facts are stored, both life cycles move, and either a person is asked, the apply is
 * handed on, or the queue advances.
 */
import type { Updateable } from 'kysely';
import { costStep } from '#protocol/tools/steps.ts';
import type { DeploymentStatus, StepStatus } from '#contract/schema/enumerations.ts';
import type { Context } from '../context.ts';
import type { DeploymentTable } from '../database/schema.ts';
import { advanceQueue } from './advance-queue.ts';
import { approvalOfPlan } from './decisions/decide-approval.ts';
import { decideNext } from './decisions/decide-next.ts';
import { type DeploymentRow, type LockedDeployment, updateDeploymentRow } from './deployment-store.ts';
import { moveDeployment } from './move-deployment.ts';
import { recordEvent } from '../feeds/record-event.ts';
import { appendLog, setStepStatus, skipRemainingSteps, skipUnstartedStep } from '../logs/step-store.ts';
import { stepView } from '../logs/step-view.ts';
import { readPolicySettings } from '../policies/policy-settings.ts';
import { outcomeColumns, type ReceivedOutcome } from './outcome-columns.ts';

const lostStateMessage =
  'The run succeeded but delivered no newer state, so its changes are not recorded. Check its log before the next deployment';

const rescuedMessage =
  'The run succeeded, but another state of the environment was stored in the meantime: the state of this run is kept as a rescued version. Compare the two before the next deployment';

const oldAgentReason = 'the agent of this run cannot estimate costs yet: update it.';

const outdatedMessage = 'The plan is outdated: the state has changed since it was made. Deploy again';

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

/** Whether the plan of a deploy changes no resource, and the policy of the project skips the apply of such plans. */
async function isApplySkipped(
  { db }: Context,
  { type, project_id: projectId }: DeploymentRow,
  { result, hasResourceChanges }: ReceivedOutcome,
): Promise<boolean> {
  if (type !== 'deploy' || result !== 'planned' || hasResourceChanges !== false) return false;
  return (await readPolicySettings(db, projectId)).skipApplyWhenPlanIsEmpty;
}

/** Nobody is asked, and no tool runs: none of the steps after the plan will begin. */
async function skipRest(context: Context, deployment: DeploymentRow): Promise<void> {
  for (const row of await skipRemainingSteps(context.db, deployment.id))
    await recordEvent(context, deployment.id, 'step', stepView(row, deployment));
}

/** An agent of an older version does not know the step that estimates costs. */
async function skipUnknownCostStep(
  context: Context,
  deployment: DeploymentRow,
  { result, texts }: ReceivedOutcome,
): Promise<void> {
  if (!deployment.estimates_costs || result !== 'planned' || texts.cost_estimation !== undefined) return;
  const row = await skipUnstartedStep(context.db, deployment.id, costStep);
  if (!row) return;
  await appendLog(context.db, deployment.id, costStep, `Skipped: ${oldAgentReason}\n`);
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
 * The caller ends the attempt.
 * @param states the version that was current when the attempt began, and the one that it stored; null where
 * there is none. `isRescued`:
 *   the stored one did not become the current one
 * @returns both rows as they are now if the apply follows, which the caller hands on; else null
 */
export async function finishPhase(
  context: Context,
  { deployment: before, environment }: LockedDeployment,
  outcome: ReceivedOutcome,
  states: { readonly began: string | null; readonly stored: string | null; readonly isRescued: boolean },
): Promise<LockedDeployment | null> {
  const isOutdated = outcome.result === 'planned' && states.began !== environment.current_state_version_id;
  const isMissing =
    outcome.isStateOurs === true &&
    outcome.isStateSame !== true &&
    before.has_resource_changes === true &&
    states.stored === null;
  const hasLostState = outcome.result === 'applied' && (isMissing || states.isRescued);
  const approval = approvalOfPlan(
    { isRequired: before.requires_approval, decidedBy: before.approval_decided_by },
    null,
  );
  const isEmpty = await isApplySkipped(context, before, outcome);
  const decision = decideNext({
    type: before.type,
    status: before.status,
    result: outcome.result,
    requiresApproval: approval.isRequired,
    hasLostState,
    isOutdated,
    isApplySkipped: isEmpty,
  });
  await skipUnknownCostStep(context, before, outcome);
  const stored = outcomeColumns(context, before, outcome, states.stored);
  const planned = outcome.result === 'planned' ? { planned_on_state_version_id: states.began } : {};
  const lostMessage = states.isRescued ? rescuedMessage : lostStateMessage;
  const message = hasLostState
    ? lostMessage
    : decision.kind === 'end' && isOutdated && decision.status === 'FAILURE'
      ? outdatedMessage
      : null;
  const lost = message ? { error: JSON.stringify({ message }) } : {};
  const isSkipped = isEmpty && decision.kind === 'end' && decision.status === 'SUCCESS';
  const skipped = isSkipped ? { is_skipped_apply: true } : {};
  const changes = { ...stored, ...planned, ...lost, ...skipped, updated_at: context.now() };
  const locked = { deployment: before, environment };
  if (isSkipped) await skipRest(context, before);
  if (decision.kind === 'end') await end(context, locked, decision.status, changes);
  if (decision.kind === 'wait') {
    await markStep(context, before, 'approval:wait', 'WAITING_FOR_USER');
    await moveDeployment(context, locked, 'WAITING_FOR_USER', changes);
  }
  if (decision.kind !== 'apply') return null;
  const [deployment] = await Promise.all([
    updateDeploymentRow(context.db, before.id, changes),
    markStep(context, before, 'approval:wait', 'SKIPPED'),
  ]);
  return { deployment, environment };
}
