/** The hash that assignments of a policy show: clients see by it that the policy is another one. */
import { createHash } from 'node:crypto';
import type { ApprovalPolicy } from '#contract/custom-flows/shapes.ts';
import type { Connection } from '../../framework/context.ts';
import { newestHashes } from '../../rows/approval-policies/verdict-store.ts';

/** Of what is known before the files were read for the first time. */
function hashOfAddress({
  repository,
  revision = '',
  path = '',
  policyConfiguration = {},
}: ApprovalPolicy): string {
  const address = JSON.stringify([repository, revision, path, policyConfiguration]);
  return createHash('sha256').update(address).digest('hex');
}

/** @returns hashes by the id of the policy */
export async function hashesOf(
  db: Connection,
  policies: readonly ApprovalPolicy[],
): Promise<(policy: ApprovalPolicy) => string> {
  const evaluated = await newestHashes(
    db,
    policies.flatMap(({ id }) => id ?? []),
  );
  return (policy) => evaluated.get(policy.id ?? '') ?? hashOfAddress(policy);
}
