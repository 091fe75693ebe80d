/**
 * Whether an apply gets the same secrets as its plan, compared without revealing them: the key of the
 * fingerprint is derived from the plan file, which contains the values anyway and is transferred sealed.
 */
import { createHash, createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ApprovedParts, Job } from '#protocol/messages/job.ts';

/** @param planFile path of the saved plan; it is read only if there is something to compare */
export function plannedSecrets(
  job: Pick<Job, 'variables'>,
  planFile: string,
): Pick<ApprovedParts, 'secrets'> {
  const resolved = job.variables.terraform.filter(({ reference }) => reference !== undefined);
  if (resolved.length === 0) return {};
  // The prefix makes the key another hash than that of the plan, which is public.
  const key = createHash('sha256').update('secret references\0').update(readFileSync(planFile)).digest();
  const rows = resolved.map(({ name, value }) => JSON.stringify([name, value])).sort();
  return { secrets: createHmac('sha256', key).update(JSON.stringify(rows)).digest('hex') };
}
