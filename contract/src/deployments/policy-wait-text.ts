/** Why plans wait for approval policies, apart from the schemas: the command line starts without those. */
import type { PolicyDecision, PolicyVerdict } from './policy-verdict.ts';

/**
 * Why a plan waits whose approval policies decided that, as the end of a sentence.
 * @param all verdicts of each round
 */
export function policyWaitText(
  all: readonly Pick<PolicyVerdict, 'policyName' | 'decision' | 'round'>[],
): string {
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
