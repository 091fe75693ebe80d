/** Reasons why plans wait for an approval, apart from the schemas: the command line starts without those. */
import type { ApprovalDecider } from '../schema/enumerations.ts';
import type { PolicyDecision, PolicyVerdict } from './policy-verdict.ts';

type DecidedVerdict = Pick<PolicyVerdict, 'policyName' | 'decision' | 'round'>;

/**
 * The reason for a plan whose approval policies decided that it waits, as the end of a sentence.
 * @param all verdicts of each round
 */
function policyWaitText(all: readonly DecidedVerdict[]): string {
  const newest = Math.max(0, ...all.map(({ round }) => round));
  const namesOf = (wanted: PolicyDecision) =>
    all
      .filter(({ round, decision }) => round === newest && decision === wanted)
      .map(({ policyName }) => `"${policyName}"`);
  const silent = namesOf('none');
  if (silent.length === 0 || namesOf('pending').length > 0) return 'its approval policies say so';
  if (namesOf('allow').length === 0) return 'its approval policies say nothing about the plan';
  if (silent.length === 1)
    return `the approval policy ${silent[0]} says nothing, and none at its place or above allows the plan`;
  return `the approval policies ${silent.join(', ')} say nothing, and for at least one of them, none at its place or above allows the plan`;
}

const reasons: Readonly<Record<Exclude<ApprovalDecider, 'policy'>, string>> = {
  planner: 'the user who started it may plan, but not apply',
  variable: 'the variable ENVARIUM_REQUIRES_APPROVAL requires it',
  project: 'the policy of its project does not allow people to approve their own plans',
  request: 'the request requires it',
  environment: 'the environment requires approval',
};

/** The reason why a plan waits for an approval, as the end of a sentence. @param verdicts of each round */
export function approvalReason(decidedBy: ApprovalDecider, verdicts: readonly DecidedVerdict[] = []): string {
  return decidedBy === 'policy' ? policyWaitText(verdicts) : reasons[decidedBy];
}
