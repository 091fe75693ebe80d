/**
 * The end of a phase: its facts are stored, both life cycles move, and either a person has to decide, the apply is
 * handed on, or the queue advances.
 */
import type { Updateable } from 'kysely';
import type { Context } from '../../framework/context.ts';
import {
  type DeploymentRow,
  type LockedDeployment,
  updateDeploymentRow,
} from '../../rows/deployments/deployment-store.ts';
import { diagnosticsColumn } from '../../rows/deployments/diagnostics-store.ts';
import { outcomeColumns, type ReceivedOutcome } from '../../rows/deployments/outcome-columns.ts';
import type { DeploymentTable } from '../../rows/schema.ts';
import { currentRound } from './decisions/current-round.ts';
import { approvalOfPlan } from './decisions/decide-approval.ts';
import { type Level, nextLevel } from './decisions/decide-level.ts';
import { decideNext, type NextDecision } from './decisions/decide-next.ts';
import { isConfirmed } from './decisions/is-confirmed.ts';
import { wholePlanColumns } from './plans/whole-plan.ts';
import { promiseCheck } from './policy-check/policy-check.ts';
import { beginLevel } from './transitions/begin-level.ts';
import { followDecision, outdatedMessage } from './transitions/follow-decision.ts';
import { isApplySkipped } from './transitions/skipped-apply.ts';

const lostStateMessage =
  'The run succeeded but delivered no newer state, so its changes are not recorded. Check its log before the next deployment';

const rescuedMessage =
  'The run succeeded, but another state of the environment was stored in the meantime: the state of this run is kept as a rescued version. Compare the two before the next deployment';

/** A plan as its deployment will have it. */
function plannedColumns({ id, level }: DeploymentRow, { units, approvedParts }: ReceivedOutcome) {
  return { id, level, planned_units: units ?? null, approved_parts: approvedParts ?? null };
}

/** Whether the plan of a deployment becomes that of all its levels. */
function isWhole({ level }: DeploymentRow, decision: NextDecision): boolean {
  return level !== null && decision.kind === 'end' && decision.status === 'SUCCESS';
}

/** Problem of a phase whose commands have succeeded; null: none. */
function messageOf(
  decision: NextDecision,
  facts: { readonly hasLostState: boolean; readonly isOutdated: boolean; readonly isRescued: boolean },
): string | null {
  if (facts.hasLostState) return facts.isRescued ? rescuedMessage : lostStateMessage;
  const isFailure = decision.kind === 'end' && decision.status === 'FAILURE';
  return isFailure && facts.isOutdated ? outdatedMessage : null;
}

function requireLevel(level: Level | null): Level {
  if (level === null) throw new Error('No further level is known');
  return level;
}

/** Stores the plan, and promises the first round of policies about it. */
async function beginCheck(
  context: Context,
  deployment: DeploymentRow,
  changes: Updateable<DeploymentTable>,
): Promise<void> {
  const round = await currentRound(context.db, deployment);
  await Promise.all([
    updateDeploymentRow(context.db, deployment.id, changes),
    promiseCheck(context, deployment, round),
  ]);
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
  const isEmpty =
    outcome.result === 'planned' && (await isApplySkipped(context, before, outcome.hasChanges ?? null));
  const next = nextLevel(before.level, before.planned_units, before.approved_parts);
  const decision = decideNext({
    type: before.type,
    status: before.status,
    result: outcome.result,
    requiresApproval: approval.isRequired,
    hasPolicies: before.has_policies,
    hasLostState,
    isOutdated,
    isApplySkipped: isEmpty,
    hasNextLevel: before.type === 'deploy' && next !== null,
    isApproved: outcome.result === 'planned' && (await isConfirmed(context, plannedColumns(before, outcome))),
  });
  const stored = outcomeColumns(context, before, outcome, states.stored);
  const reported = await diagnosticsColumn(context.db, before, outcome);
  const planned = outcome.result === 'planned' ? { planned_on_state_version_id: states.began } : {};
  const message = messageOf(decision, { hasLostState, isOutdated, isRescued: states.isRescued });
  const lost = message ? { error: JSON.stringify({ message }) } : {};
  const isSkipped = isEmpty && decision.kind === 'end' && decision.status === 'SUCCESS';
  const skipped = isSkipped ? { is_skipped_apply: true } : {};
  const whole = isWhole(before, decision) ? await wholePlanColumns(context, before.id) : {};
  const changes = {
    ...stored,
    ...reported,
    ...whole,
    ...planned,
    ...lost,
    ...skipped,
    updated_at: context.now(),
  };
  const locked = { deployment: before, environment };
  if (decision.kind === 'level') await beginLevel(context, locked, requireLevel(next), changes);
  else if (decision.kind === 'check') await beginCheck(context, before, changes);
  else return followDecision(context, locked, decision, changes);
  return null;
}
