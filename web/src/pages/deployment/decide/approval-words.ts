/** Why a plan waits, and why this person cannot approve it, in words. */
import type { ApprovalWait, ApproverObstacle, WaitingFor } from '#contract/deployments/plan.ts';
import type { PolicyVerdict } from '#contract/deployments/policy-verdict.ts';
import { policyWaitText } from '#contract/deployments/policy-wait-text.ts';
import { moneyChangeText } from '../../../design/money.ts';

const deciders: Readonly<Record<Exclude<ApprovalWait['decidedBy'], 'policy' | undefined>, string>> = {
  planner: 'whoever started it may plan, but not apply',
  variable: 'the variable ENVARIUM_REQUIRES_APPROVAL requires it',
  project: 'the policy of its project does not allow people to approve their own plans',
  request: 'the request requires it',
  environment: 'the environment requires approval',
};

/** Why it waits, as the end of a sentence; undefined: not known. */
export function deciderWords(
  { decidedBy }: Pick<ApprovalWait, 'decidedBy'>,
  verdicts: readonly PolicyVerdict[] = [],
): string | undefined {
  if (decidedBy === 'policy') return policyWaitText(verdicts);
  return decidedBy && deciders[decidedBy];
}

const obstacles: Readonly<Record<ApproverObstacle, string>> = {
  ownPlan: 'This is your own plan, and the policy of the project does not allow people to approve their own.',
  alreadyApproved: 'You have already approved this plan. The next approval must come from someone else.',
};

/** Why a person may not approve what waits, whatever their rights; undefined: nothing is against it. */
export function approverObstacle(
  waitingFor: WaitingFor | undefined,
  userId: string | undefined,
): string | undefined {
  const found = waitingFor?.approval?.excluded?.find((each) => each.userId === userId);
  return found && obstacles[found.reason];
}

/** Increase of the environment's costs, as `+4.10 USD a month`; undefined: not estimated. */
export function costWords(
  estimation: { readonly monthlyCostDiff?: number; readonly currency?: string } | null,
): string | undefined {
  const { monthlyCostDiff: change, currency } = estimation ?? {};
  if (change === undefined) return undefined;
  return `${moneyChangeText(change, currency)} a month`;
}
