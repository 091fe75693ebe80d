/** Reasons why this person cannot approve a plan that waits, and the costs of the plan, in words. */
import type { ApproverObstacle, WaitingFor } from '#contract/deployments/plan.ts';
import { moneyChangeText } from '../../../design/money.ts';

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
