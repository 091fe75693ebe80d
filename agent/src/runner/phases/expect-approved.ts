/** Compares what is about to be applied with what was approved. */
import { readFileSync } from 'node:fs';
import { approvedHash, differingPart, sha256, variablesHash } from '#protocol/approved.ts';
import type { ApprovedParts, Job } from '#protocol/messages/job.ts';
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import { RunFailure } from '../../processes/failure.ts';
import { plannedSecrets } from '../../secret-references/planned-secrets.ts';

/** @param difference between what was approved and what would be applied */
export function notApproved(difference: string): RunFailure {
  return new RunFailure(
    `the apply differs from what was approved (${difference}), and nothing was applied: deploy again and approve the new plan`,
  );
}

/** Compares every part of what is about to be applied with what was approved. */
export function expectApproved(
  attempt: AttemptContext,
  approved: NonNullable<Job['approved']>,
  found: Pick<ApprovedParts, 'lockFile' | 'toolVersion'>,
): void {
  const parts: ApprovedParts = {
    ...found,
    ...(attempt.driver.savedPlan === undefined
      ? {}
      : { planFile: sha256(readFileSync(attempt.spool.inputPlan)) }),
    commit: approved.parts.commit,
    variables: variablesHash(attempt.job.variables),
  };
  const part =
    approvedHash(approved.parts) === approved.hash
      ? differingPart(approved.parts, parts)
      : 'the list of approved parts';
  if (part !== null) throw notApproved(part);
}

/** Here the values of the plan are known to nobody, so that another one could be neither masked nor compared. */
export function expectPlannedSecrets({ job, spool }: AttemptContext, approved: ApprovedParts): void {
  if (approved.secrets === undefined) return;
  if (plannedSecrets(job, spool.inputPlan).secrets !== approved.secrets)
    throw new RunFailure(
      'a secret that a variable of the tool refers to has changed since the plan, and nothing was applied: deploy again and approve the new plan',
    );
}
