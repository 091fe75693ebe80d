/** Decides who may approve a plan. Pure: facts in, decision out. */
import type { ApproverObstacle } from '#contract/deployments/plan.ts';
import { systemUserId } from '../../../rows/users/user-store.ts';

export interface ApproverFacts {
  readonly started_by: string;
  readonly requested_by: string | null;
  readonly is_self_approval_forbidden: boolean;
  readonly approvers: readonly string[];
  readonly people: Readonly<Record<string, readonly string[]>> | null;
}

function behind({ people }: ApproverFacts, userIds: readonly (string | null)[]): string[] {
  return userIds.flatMap((id) => (id === null || id === systemUserId ? [] : (people?.[id] ?? [id])));
}

/** Owner of a plan: the user who started it, or for whom the service did. None for a lifetime that no one chose. */
function ownersOf(facts: ApproverFacts): string[] {
  return behind(facts, [facts.started_by, facts.requested_by]);
}

/** The people who may not approve, each with the first reason. Keys that they made may not either. */
export function excludedFrom(facts: ApproverFacts): { userId: string; reason: ApproverObstacle }[] {
  const found = new Map<string, ApproverObstacle>();
  for (const id of behind(facts, facts.approvers)) found.set(id, 'alreadyApproved');
  if (facts.is_self_approval_forbidden)
    for (const id of ownersOf(facts)) if (!found.has(id)) found.set(id, 'ownPlan');
  return [...found].map(([userId, reason]) => ({ userId, reason }));
}

/** For a user who approves the same plan twice. */
export const approvedAlready =
  'You have approved this plan already: the next approval has to come from another person';

const selfApproval =
  'the policy of the project does not let people approve their own plans (selfApprovalForbidden). Another person has to approve it';

/**
 * @param userId who wants to approve
 * @returns why not, as a sentence; null where nothing is against it
 */
export function approverRefusal(facts: ApproverFacts, userId: string): string | null {
  const own = behind(facts, [userId]);
  const isAmong = (others: readonly string[]) => others.some((id) => own.includes(id));
  if (facts.approvers.includes(userId)) return approvedAlready;
  if (isAmong(behind(facts, facts.approvers)))
    return 'This plan was approved already by you or by a key that you, or the maker of your key, have made: the next approval has to come from another person';
  if (!facts.is_self_approval_forbidden || !isAmong(ownersOf(facts))) return null;
  if (facts.started_by === userId) return `You started this deployment, and ${selfApproval}`;
  if (facts.requested_by === userId) return `This deployment was started for you, and ${selfApproval}`;
  return `This deployment was started by a key of yours, or by the maker of your key, and ${selfApproval}`;
}
