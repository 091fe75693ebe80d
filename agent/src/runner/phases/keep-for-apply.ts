/** Files that a plan leaves for its apply: the input that is packed, and the tree. */
import { join } from 'node:path';
import { sha256, variablesHash } from '#protocol/approved.ts';
import type { ApprovedParts } from '#protocol/messages/job.ts';
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import { plannedSecrets } from '../../secret-references/planned-secrets.ts';
import { keepOwnWorkFolder, removeOwnWorkFolder } from '../../slots/work-folder-owner.ts';
import { packForApply } from '../code/tree-archive.ts';
import { type Configuration, readLockFileBytes } from '../configuration/configuration.ts';
import { type PreparedConfiguration, writeCaptures } from './prepare-configuration.ts';

/**
 * Packs the input of the apply.
 * @param composed the saved plan, if the driver composes it
 * @returns what a person approves
 */
export async function keepForApply(
  attempt: AttemptContext,
  { configuration, commit }: PreparedConfiguration,
  step: string,
  composed?: Uint8Array,
): Promise<ApprovedParts> {
  const { tool } = configuration;
  const [lockFile, planFile] = await Promise.all([
    readLockFileBytes(attempt, configuration),
    packForApply(attempt, configuration, step, composed),
  ]);
  return {
    ...(planFile === undefined ? {} : { planFile }),
    commit,
    toolVersion: tool.version,
    lockFile: sha256(lockFile ?? ''),
    variables: variablesHash(attempt.job.variables),
    ...(tool.companions === undefined ? {} : { companions: tool.companions }),
    ...plannedSecrets(attempt.job, attempt.spool.outputPlan),
  };
}

/** Keeps the tree for the apply, or removes the work folder of a plan that none follows. */
export function settlePlan(
  attempt: AttemptContext,
  configuration: Configuration,
  approvedParts: ApprovedParts | undefined,
): void {
  if (approvedParts === undefined) return removeOwnWorkFolder(attempt.folders, attempt.job);
  const facts = {
    isStateOurs: configuration.context.stateFolder !== null,
    toolVersion: approvedParts.toolVersion,
    secretFiles: configuration.written.secret.map((name) => join(attempt.path, name)),
    inspected: writeCaptures(configuration.context.inspected ?? new Map()),
  };
  keepOwnWorkFolder(attempt.folders, attempt.job, attempt.order.slotUid, facts);
}
