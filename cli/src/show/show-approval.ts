/** Verdicts and decisions about a plan, and the open requirements of its approval, in words. */

import { approvalReason } from '#contract/deployments/approval-reason.ts';
import type { PolicyVerdict } from '#contract/deployments/policy-verdict.ts';
import type { Deployment } from '#contract/deployments/shapes.ts';
import { timeText } from '../terminal/durations.ts';
import type { Output } from '../terminal/output.ts';
import { safeText } from '../terminal/safe-text.ts';

type ApprovalView = Pick<Deployment, 'waitingFor' | 'reviews' | 'policyVerdicts' | 'costEstimation'>;

const decisions = {
  error: 'could not be evaluated',
  deny: 'denies the plan',
  pending: 'requires more approvals',
  allow: 'allows the plan',
  none: 'leaves the decision to people',
} as const;

/** `Ada (approved: as discussed), Ben (cancelled)`; empty if there is no decision. */
export function reviewsText({ reviews = [] }: Pick<Deployment, 'reviews'>): string {
  return reviews
    .map(({ user, action, comment }) => {
      const why = comment === undefined ? '' : `: ${comment}`;
      return `${user.name ?? user.user_id ?? 'unknown user'} (${action}${why})`;
    })
    .join(', ');
}

/** `+4.10 USD a month`; undefined where costs were not estimated. */
export function costText({ costEstimation: costs }: Pick<Deployment, 'costEstimation'>): string | undefined {
  if (costs?.monthlyCostDiff === undefined) return undefined;
  const { monthlyCostDiff: change, totalMonthlyCost: total } = costs;
  const currency = ('currency' in costs && typeof costs.currency === 'string' && costs.currency) || 'USD';
  const inAll = total === undefined ? '' : `, ${total.toFixed(2)} in all`;
  return `${change < 0 ? '-' : '+'}${Math.abs(change).toFixed(2)} ${currency} a month${inAll}`;
}

/** The newest verdict of each policy: `cost allows the plan: within the limit; warning: close to it`. */
export function verdictLines({ policyVerdicts: all = [] }: Pick<Deployment, 'policyVerdicts'>): string[] {
  const round = Math.max(0, ...all.map((verdict) => verdict.round));
  return all.filter((verdict) => verdict.round === round).map(verdictLine);
}

function verdictLine({ policyName, decision, messages, error }: PolicyVerdict): string {
  const own = decision === 'error' ? [error ?? ''] : decision === 'none' ? [] : messages[decision];
  const texts = [...own, ...messages.warn.map((text) => `warning: ${text}`)].filter((text) => text !== '');
  return `${policyName} ${decisions[decision]}${texts.length === 0 ? '' : `: ${texts.join('; ')}`}`;
}

/** Why an approval is waited for, and until when; nothing where none is. */
export function waitLines({
  waitingFor,
  policyVerdicts = [],
}: Pick<Deployment, 'waitingFor' | 'policyVerdicts'>): string[] {
  const { approval } = waitingFor ?? {};
  if (!approval) return [];
  return [
    `It waits because ${approvalReason(approval.decidedBy, policyVerdicts)}.`,
    `If no one decides, it times out at ${timeText(approval.until)}.`,
  ];
}

/** Approvers so far, and open requirements. */
function missingLines({ waitingFor, reviews = [] }: Pick<Deployment, 'waitingFor' | 'reviews'>): string[] {
  const approved = reviews.filter(({ action }) => action === 'approved');
  return [
    ...(approved.length === 0 ? [] : [`Approved so far by ${reviewsText({ reviews: approved })}.`]),
    ...(waitingFor?.approval?.missing ?? []).map((text) => `Still missing: ${text}`),
  ];
}

/** Before a decision: the verdicts, the costs, and what the approval waits for. */
export async function showApproval(output: Output, deployment: ApprovalView): Promise<void> {
  const costs = costText(deployment);
  const lines = [
    ...verdictLines(deployment).map((line) => `Policy ${line}`),
    ...(costs === undefined ? [] : [`Costs: ${costs}`]),
    ...missingLines(deployment),
    ...waitLines(deployment),
  ];
  for (const line of lines) await output.line(safeText(line));
}
