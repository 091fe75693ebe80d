/** Decides what follows from a lost attempt. Pure. */
import type { DeploymentStatus } from '#contract/schema/enumerations.ts';

/** The total number of attempts without a start mark. */
const maximumAttempts = 3;

export function decideAfterLoss(facts: {
  readonly status: DeploymentStatus;
  readonly mark: string | null;
  readonly attempts: number;
}): 'again' | 'aborted' | 'failed' {
  if (facts.status === 'ABORTING') return 'aborted';
  return facts.mark === null && facts.attempts < maximumAttempts ? 'again' : 'failed';
}
