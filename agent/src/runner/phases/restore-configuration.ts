/** The way to the configuration of an approved plan: its tree was kept, or is restored from what was transferred. */
import { join } from 'node:path';
import { sha256 } from '#protocol/approved.ts';
import type { ApprovedParts, Job } from '#protocol/messages/job.ts';
import { restoreStep as prepareStep } from '#protocol/tools/steps.ts';
import { onlyCommands } from '../../drivers/interface/command.ts';
import { readInside } from '../../slots/closed-tree.ts';
import type { TreeFacts } from '../../slots/work-folder.ts';
import { unpackTree } from '../code/tree-archive.ts';
import { readInputCaptures, runOne } from '../commands/run-commands.ts';
import type { RunnerAttempt } from '../commands/runner-attempt.ts';
import {
  type Configuration,
  checkJob,
  checkPrepared,
  codeConstraints,
  configurationFolderOf,
  describeConfiguration,
  findStateOwner,
  hasPlugins,
  lockFileBytes,
  readLockFileBytes,
  requireSecrets,
  writeDriverFiles,
} from '../configuration/configuration.ts';
import { findLocalTool, resolveTool, type ToolNeeds } from '../tool/resolve-tool.ts';
import { expectApproved, expectPlannedSecrets, watchValueFiles } from './approved-parts.ts';
import { inspectCode, readCaptures } from './prepare-configuration.ts';

/** Uses a kept tree as it is. @throws RunFailure if it is not what was approved, or the planning tool is gone */
export async function continueKept(
  attempt: RunnerAttempt,
  approved: NonNullable<Job['approved']>,
  keptTree: TreeFacts,
): Promise<Configuration> {
  const lockFile = await keptLockFile(attempt);
  expectApproved(attempt, approved, {
    lockFile: sha256(lockFile ?? ''),
    toolVersion: keptTree.toolVersion,
  });
  if ((attempt.job.resolution?.failures ?? []).length > 0)
    await attempt.steps.run(prepareStep, async () => requireSecrets(attempt));
  // The planning tool may have been removed from the PATH or the cache.
  const local = await findLocalTool(attempt, keptTree.toolVersion);
  if (local !== null) attempt.steps.skip(prepareStep);
  const tool =
    local ??
    (await attempt.steps.run(prepareStep, () =>
      resolveTool(
        attempt,
        prepareStep,
        needsOf(attempt, { ...approved.parts, toolVersion: keptTree.toolVersion }),
      ),
    ));
  const described = describeConfiguration(attempt, {
    tool,
    commit: approved.parts.commit,
    isStateOurs: keptTree.isStateOurs,
    inspected: readCaptures(keptTree.inspected ?? {}),
  });
  return {
    ...described,
    written: { secret: [], sha256: '' },
    hasPlugins: hasPlugins(attempt, lockFile),
  };
}

/** The planning tool with its companions. */
function needsOf(attempt: RunnerAttempt, { toolVersion, companions }: ApprovedParts): ToolNeeds {
  return {
    planned: toolVersion,
    ...(companions === undefined ? {} : { plannedCompanions: companions }),
    required: (program) => codeConstraints(attempt, program),
  };
}

/** Read directly: no command of the run has been started yet, and the reader of the tree may not be ready. */
async function keptLockFile(attempt: RunnerAttempt): Promise<Uint8Array | null> {
  const { driver, folders } = attempt;
  if (driver.lockFile === undefined) return null;
  const file = join(configurationFolderOf(attempt), driver.lockFile);
  return readInside(folders.tree, file, lockFileBytes);
}

/**
 * Prepares a transferred tree, or a kept one if the tool saves no plan.
 * @throws RunFailure if it is not what was approved, or a step fails
 */
export async function restoreConfiguration(
  attempt: RunnerAttempt,
  approved: NonNullable<Job['approved']>,
  keptTree: TreeFacts | null,
): Promise<Configuration> {
  return attempt.steps.run(prepareStep, async () => {
    const { commit } = approved.parts;
    if (keptTree === null) await unpackTree(attempt, prepareStep);
    await checkJob(attempt, prepareStep, commit);
    const tool = await resolveTool(attempt, prepareStep, needsOf(attempt, approved.parts));
    const toolVersion = tool.version;
    const inspected = await inspectCode(attempt, prepareStep, { tool, commit });
    const isStateOurs = await findStateOwner(attempt, commit, inspected);
    const described = describeConfiguration(attempt, { tool, commit, isStateOurs, inspected });
    const transferred = await readLockFileBytes(attempt, described);
    expectApproved(attempt, approved, { lockFile: sha256(transferred ?? ''), toolVersion });
    expectPlannedSecrets(attempt, approved.parts);
    const configuration = { ...described, written: await writeDriverFiles(attempt, described.context) };
    const requireSameValues = await watchValueFiles(attempt.driver, described.context);
    const commands = await attempt.driver.prepare(described.context);
    for (const command of onlyCommands(commands))
      await runOne(attempt, configuration, { ...command, step: prepareStep }, readInputCaptures(attempt));
    await checkPrepared(attempt, configuration);
    await requireSameValues();
    const lockFile = await readLockFileBytes(attempt, described);
    expectApproved(attempt, approved, { lockFile: sha256(lockFile ?? ''), toolVersion });
    return { ...configuration, hasPlugins: hasPlugins(attempt, lockFile) };
  });
}
