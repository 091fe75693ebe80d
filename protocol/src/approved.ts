/**
 * Hashes of what a person approves: computed by the runner after a plan, compared by the runner before an
 * apply.
 */
import { createHash } from 'node:crypto';
import type { ApprovedParts, Job } from './messages/job.ts';

/** SHA-256 in lower-case hex. */
export function sha256(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** SHA-256 over the parts, in one fixed order; stored with the approval. */
export function approvedHash(parts: ApprovedParts): string {
  return sha256(
    JSON.stringify([parts.planFile, parts.commit, parts.toolVersion, parts.lockFile, parts.variables]),
  );
}

/**
 * SHA-256 of the resolved variables, whatever order they came in. A value from a secret store counts as the text of
 * its reference: the service must not be able to guess it, and it may change before the apply.
 */
export function variablesHash(variables: Job['variables']): string {
  const rows = [
    ...variables.environment.map((variable) => ({ kind: 0, variable })),
    ...variables.terraform.map((variable) => ({ kind: 1, variable })),
  ];
  const texts = rows.map(({ kind, variable }) =>
    JSON.stringify([kind, variable.name, variable.format ?? null, variable.reference ?? variable.value]),
  );
  return sha256(JSON.stringify(texts.sort()));
}

const partNames = {
  planFile: 'the plan file',
  commit: 'the commit',
  toolVersion: 'the version of the tool',
  lockFile: 'the lock file',
  variables: 'the variables',
} as const satisfies Record<Exclude<keyof ApprovedParts, 'secrets' | 'companions'>, string>;

/** @returns the name of the first part that differs; null if none does */
export function differingPart(approved: ApprovedParts, found: ApprovedParts): string | null {
  for (const part of Object.keys(partNames) as (keyof typeof partNames)[]) {
    if (approved[part] !== found[part]) return partNames[part];
  }
  return null;
}
