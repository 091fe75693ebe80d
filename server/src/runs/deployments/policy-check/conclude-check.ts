/** Consequences of the verdicts of a deployment's policies, in one transaction with them. */
import type { Insertable } from 'kysely';
import type { PolicyDecision, PolicyMessages } from '#contract/deployments/policy-verdict.ts';
import { policyStep } from '#protocol/tools/steps.ts';
import type { Connection, Context } from '../../../framework/context.ts';
import { storable } from '../../../ground/database/storable.ts';
import { inTransaction } from '../../../ground/database/transaction.ts';
import { Refusal } from '../../../ground/errors.ts';
import { insertVerdicts } from '../../../rows/approval-policies/verdict-store.ts';
import {
  type DeploymentRow,
  type LockedDeployment,
  lockDeployment,
} from '../../../rows/deployments/deployment-store.ts';
import { listReviews } from '../../../rows/deployments/review-store.ts';
import { appendLog, getStepRow } from '../../../rows/logs/step-store.ts';
import type { PolicyVerdictTable } from '../../../rows/schema.ts';
import { combinedDecision } from '../../../rules/approval-policies/evaluation/read-verdict.ts';
import { currentRound } from '../decisions/current-round.ts';
import { approvalOfPlan, type OverridingDemand } from '../decisions/decide-approval.ts';
import { decidePlanned, type PlannedDecision } from '../decisions/decide-next.ts';
import { isConfirmed } from '../decisions/is-confirmed.ts';
import { followDecision, markStep, outdatedMessage } from '../transitions/follow-decision.ts';
import { isApplySkipped } from '../transitions/skipped-apply.ts';
import { enqueueApply } from '../transitions/start-apply.ts';
import { storeApproved } from '../transitions/store-approved.ts';
import { overridingDemand } from './overriding-demands.ts';
import type { PolicyInput } from './policy-input.ts';
import { verdictLog } from './verdict-log.ts';

/** A deployment, and how often its policies are evaluated: 1 after the plan, then once more after each approval. */
export interface RoundOfDeployment {
  readonly deploymentId: string;
  readonly round: number;
}

type NewVerdict = Insertable<PolicyVerdictTable>;

export interface CheckResult {
  readonly verdicts: readonly NewVerdict[];
  /** Input of the policies, if its log has to show it. */
  readonly printed: PolicyInput | null;
  /** Reason why nothing could be evaluated. */
  readonly problem?: string;
  /** Why what the deployment proposes cannot be stored any more. */
  readonly refusal?: string;
}

interface ReadVerdict extends Omit<NewVerdict, 'messages'> {
  readonly decision: PolicyDecision;
  readonly messages: PolicyMessages;
}

function readVerdicts({ verdicts }: CheckResult): ReadVerdict[] {
  return verdicts
    .map((row) => ({ ...row, messages: JSON.parse(row.messages as string) as PolicyMessages }) as ReadVerdict)
    .toSorted((a, b) => (a.policy_name < b.policy_name ? -1 : 1));
}

function logOf(result: CheckResult, verdicts: readonly ReadVerdict[]): string {
  const { printed, problem } = result;
  const input = printed === null ? '' : JSON.stringify(printed, null, 2);
  const rows = verdicts as unknown as Parameters<typeof verdictLog>[0];
  return `${input === '' ? '' : `Input of the policies:\n${input}\n`}${problem === undefined ? verdictLog(rows) : `${problem}\n`}`;
}

/** Of the reason that a deployment ends for: its verdicts have all of it. */
const mostErrorCharacters = 10_000;

function shortened(text: string): string {
  const { length } = text;
  return length > mostErrorCharacters ? `${text.slice(0, mostErrorCharacters).toWellFormed()}…` : text;
}

/** Why the deployment ends; null where it does not, or everything was well. */
function errorOf(
  decision: PlannedDecision,
  verdict: PolicyDecision | null,
  verdicts: readonly ReadVerdict[],
): string | null {
  if (decision.kind !== 'end') return null;
  const from = (which: PolicyDecision) => verdicts.filter((row) => row.decision === which);
  if (verdict === 'error')
    return from('error')
      .map((row) => `Approval policy "${row.policy_name}": ${row.error}`)
      .join('\n');
  if (verdict === 'deny')
    return from('deny')
      .map((row) => `Approval policy "${row.policy_name}" denies the plan: ${row.messages.deny.join('; ')}`)
      .join('\n');
  return decision.status === 'FAILURE' ? outdatedMessage : null;
}

interface DecidedFacts {
  readonly verdict: PolicyDecision | null;
  readonly isApproved: boolean;
  readonly isApplySkipped: boolean;
  /** Demand of an approval although policies allow the plan. */
  readonly overriding: OverridingDemand | null;
  /** The proposed changes cannot be stored. */
  readonly isRefused: boolean;
}

function decide({ deployment, environment }: LockedDeployment, facts: DecidedFacts) {
  const { verdict, isApplySkipped } = facts;
  const approvalVerdict = verdict === 'error' || verdict === 'deny' ? null : verdict;
  // Each round begins with what was decided at the start: the columns have the result of the round before it.
  const approval = approvalOfPlan(deployment.approval_at_start, approvalVerdict, facts.overriding);
  const decision: PlannedDecision =
    deployment.status === 'ABORTING' || facts.isRefused
      ? { kind: 'end', status: facts.isRefused ? 'FAILURE' : 'ABORTED' }
      : decidePlanned({
          ...facts,
          requiresApproval: approval.isRequired,
          isOutdated: deployment.planned_on_state_version_id !== environment.current_state_version_id,
        });
  const isSkipped = isApplySkipped && decision.kind === 'end' && decision.status === 'SUCCESS';
  // If the plan is already approved, only policies make it wait again.
  const waitsAgain = facts.isApproved && decision.kind === 'wait';
  const columns = {
    requires_approval: approval.isRequired,
    approval_decided_by: waitsAgain ? ('policy' as const) : approval.decidedBy,
    ...(isSkipped ? { is_skipped_apply: true } : {}),
  };
  return { decision, columns };
}

/** Whether a round has not been concluded yet: an effect may be carried out again after its work was done. */
async function isOpen(db: Connection, deployment: DeploymentRow, round: number): Promise<boolean> {
  const [step, current] = await Promise.all([
    getStepRow(db, deployment.id, policyStep),
    currentRound(db, deployment),
  ]);
  return step?.status === 'IN_PROGRESS' && round === current;
}

/** Whether the plan itself was approved. */
async function hasApproval(db: Connection, { id, plan_hash: hash }: DeploymentRow): Promise<boolean> {
  const reviews = await listReviews(db, [id]);
  return reviews.some(({ action, plan_hash }) => action === 'approved' && plan_hash === hash);
}

async function conclude(
  context: Context,
  { deploymentId, round }: RoundOfDeployment,
  result: CheckResult,
): Promise<void> {
  await inTransaction(context, async (context) => {
    const locked = await lockDeployment(context.db, deploymentId);
    if (!locked || !(await isOpen(context.db, locked.deployment, round))) return;
    const { status, level } = locked.deployment;
    const isReviewed = await hasApproval(context.db, locked.deployment);
    const verdicts = readVerdicts(result);
    const isBroken = result.problem !== undefined;
    const all = isBroken ? 'error' : combinedDecision(verdicts.map((row) => row.decision));
    // All policies have been unassigned: none decides.
    const verdict = verdicts.length === 0 && !isBroken ? null : all;
    const { deployment } = locked;
    const isEmpty = await isApplySkipped(context, deployment, deployment.has_changes);
    const { decision, columns } = decide(locked, {
      verdict,
      isApproved: isReviewed || (await isConfirmed(context, locked.deployment)),
      isApplySkipped: isEmpty,
      overriding: verdict === 'allow' ? await overridingDemand(context.db, deployment, verdicts) : null,
      isRefused: result.refusal !== undefined && status !== 'ABORTING',
    });
    // The proposed changes are stored with the first plan.
    if (decision.kind === 'apply' && isReviewed && level === null) await storeApproved(context, locked);
    const message = result.problem ?? result.refusal ?? errorOf(decision, verdict, verdicts);
    const isEnd = decision.kind === 'end' && decision.status !== 'ABORTED' && message !== null;
    const error = isEnd ? { error: JSON.stringify({ message: shortened(storable(message)) }) } : {};
    await insertVerdicts(context.db, result.verdicts);
    await appendLog(context.db, deploymentId, policyStep, logOf(result, verdicts));
    const stepStatus = verdict === 'error' ? 'FAIL' : verdict === 'deny' ? 'CANCELLED' : 'SUCCESS';
    await markStep(context, locked.deployment, policyStep, status === 'ABORTING' ? 'CANCELLED' : stepStatus);
    const changes = { ...columns, ...error, updated_at: context.now() };
    const applied = await followDecision(context, locked, decision, changes, isReviewed);
    if (applied) await enqueueApply(context, applied.deployment);
  });
}

/** Stores the verdicts of a round and moves the deployment, once. */
export async function concludeCheck(
  context: Context,
  round: RoundOfDeployment,
  result: CheckResult,
): Promise<void> {
  try {
    await conclude(context, round, result);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    // The transaction is undone, with what was stored of the proposal: in another one, the deployment ends.
    await conclude(context, round, { ...result, refusal: error.message });
  }
}
