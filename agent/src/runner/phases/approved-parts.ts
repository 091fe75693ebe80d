/**
 * Whether an apply gets what its plan was made with: the approved parts, the same secrets, and the same files with
 * values of variables.
 */
import { createHash, createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { approvedHash, differingPart, sha256, variablesHash } from '#protocol/approved.ts';
import type { ApprovedParts, Job } from '#protocol/messages/job.ts';
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import type { Driver, DriverContext } from '../../drivers/interface/driver.ts';
import { RunFailure } from '../../processes/failure.ts';
import { asRunFailure } from '../configuration/configuration.ts';

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

/**
 * Compares secrets without revealing them: the key of the fingerprint is derived from the plan file, which contains the
 * values anyway and is transferred sealed.
 * @param planFile path of the saved plan; it is read only if there is something to compare
 */
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

/** Here the values of the plan are not known, so that another one could be neither masked nor compared. */
export function expectPlannedSecrets({ job, spool }: AttemptContext, approved: ApprovedParts): void {
  if (approved.secrets === undefined) return;
  if (plannedSecrets(job, spool.inputPlan).secrets !== approved.secrets)
    throw new RunFailure(
      'a secret that a variable of the tool refers to has changed since the plan, and nothing was applied: deploy again and approve the new plan',
    );
}

/** Hashes by path from the configuration's folder; null: there is no such file. */
type ValueFiles = ReadonlyMap<string, string | null>;

/** @returns an empty map if the tool does not read them again */
async function readValueFiles(driver: Driver, context: DriverContext): Promise<ValueFiles> {
  const hashOf = async (name: string) => {
    const text = await context.tree.text(name);
    return [name, text === null ? null : sha256(text)] as const;
  };
  return asRunFailure(async () => {
    const names = (await driver.savedPlan?.valueFiles?.(context)) ?? [];
    return new Map(await Promise.all([...new Set(names)].map(hashOf)));
  });
}

/**
 * Reads the files with values of variables that a tool reads again when it applies a saved plan, and compares them
 * later: what code does while its plan is made, or while a tree is prepared elsewhere, must not bring values that the
 * plan does not have.
 * @returns a function that throws a RunFailure which names the first file that differs by then
 */
export async function watchValueFiles(driver: Driver, context: DriverContext): Promise<() => Promise<void>> {
  const before = await readValueFiles(driver, context);
  return async () => {
    const after = await readValueFiles(driver, context);
    for (const name of new Set([...before.keys(), ...after.keys()]))
      if ((before.get(name) ?? null) !== (after.get(name) ?? null))
        throw new RunFailure(
          `${name} was changed by the run itself, and an apply would use its values although the plan does not have them: write it before the plan, or give it a name that the tool does not load`,
        );
  };
}
