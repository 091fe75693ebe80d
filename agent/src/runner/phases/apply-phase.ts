/**
 * The apply phase: applies the approved plan in the tree that it was made in, and stores the resulting state.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { approvedHash, differingPart, sha256, variablesHash } from '#protocol/approved.ts';
import type { ApprovedParts, Job } from '#protocol/messages/job.ts';
import { restoreStep as prepareStep, storeStateStep as storeStep } from '#protocol/tools/steps.ts';
import { type Command, onlyCommands } from '../../drivers/driver.ts';
import { readInside } from '../../slots/closed-tree.ts';
import { readKept, removeWorkFolder, type TreeFacts } from '../../slots/work-folder.ts';
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import { inStep, logEnd, skipStep, warn } from '../../attempt/attempt-log.ts';
import {
  checkJob,
  type Configuration,
  configurationFolderOf,
  describeConfiguration,
  findStateOwner,
  requireSecrets,
  writeDriverFiles,
} from './configuration.ts';
import { type OutcomeFacts, RunFailure, withFacts } from '../../processes/failure.ts';
import type { KnownState } from '../state/follow-state.ts';
import {
  checkPrepared,
  configurationFacts,
  lockFileBytes,
  type PhaseEnd,
  readLockFileBytes,
  hasPlugins,
  usesPlugins,
} from './plan-phase.ts';
import { findLocalTool, resolveTool } from '../tool/resolve-tool.ts';
import { plannedSecrets } from '../../secret-references/planned-secrets.ts';
import { type RepeatedChange, runWithRetries, withRetryCount } from './run-with-retries.ts';
import { type Captures, runOne } from '../run-commands.ts';
import { type RunnerAttempt, stateFacts } from '../runner-attempt.ts';
import { unpackTree } from '../code/tree-archive.ts';

/** The tree that the plan phase of this deployment kept for this slot; null if there is none. */
export function keptTree(attempt: Pick<AttemptContext, 'job' | 'folders' | 'order'>): TreeFacts | null {
  const continues = attempt.job.approved?.continues;
  return continues === undefined ? null : readKept(attempt.folders, continues, attempt.order.slotUid);
}

/**
 * @param kept facts about the kept tree; null: the tree has to be restored
 * @throws RunFailure if the plan cannot be applied
 */
export async function applyPhase(attempt: RunnerAttempt, kept: TreeFacts | null): Promise<PhaseEnd> {
  const approved = attempt.job.approved;
  if (approved === undefined)
    throw new RunFailure('the job of the apply contains no approved plan', { result: 'internal' });
  const { commit } = approved.parts;
  const configuration = await withFacts({ commit }, () =>
    kept !== null && attempt.driver.savedPlan !== undefined
      ? continueWith(attempt, approved, kept)
      : restore(attempt, approved, kept),
  );
  const facts = { commit, ...configurationFacts(configuration) };
  const applied = await withFacts(facts, () => applyCommands(attempt, configuration));
  const settle = () => removeWorkFolder(attempt.folders);
  return { result: 'applied', facts: { ...facts, ...applied }, settle };
}

async function continueWith(
  attempt: RunnerAttempt,
  approved: NonNullable<Job['approved']>,
  kept: TreeFacts,
): Promise<Configuration> {
  const lockFile = await keptLockFile(attempt);
  expectApproved(attempt, approved, {
    lockFile: sha256(lockFile ?? ''),
    toolVersion: kept.toolVersion,
  });
  if ((attempt.job.resolution?.failures ?? []).length > 0)
    await inStep(attempt, prepareStep, async () => requireSecrets(attempt));
  // The planning tool may have been removed from the PATH or the cache.
  const local = await findLocalTool(attempt, kept.toolVersion);
  if (local !== null) skipStep(attempt, prepareStep);
  const tool =
    local ??
    (await inStep(attempt, prepareStep, () =>
      resolveTool(attempt, prepareStep, { planned: kept.toolVersion }),
    ));
  const described = describeConfiguration(attempt, {
    tool,
    commit: approved.parts.commit,
    isStateOurs: kept.isStateOurs,
  });
  return {
    ...described,
    written: { secret: [], sha256: '' },
    hasPlugins: hasPlugins(attempt, lockFile),
  };
}

/** Read directly: no command of the run has been started yet, and the reader of the tree may not be ready. */
async function keptLockFile(attempt: RunnerAttempt): Promise<Uint8Array | null> {
  const { driver, folders } = attempt;
  if (driver.lockFile === undefined) return null;
  const file = join(configurationFolderOf(attempt), driver.lockFile);
  return readInside(folders.tree, file, lockFileBytes);
}

/** Prepares a transferred tree, or a kept one if the tool saves no plan. */
async function restore(
  attempt: RunnerAttempt,
  approved: NonNullable<Job['approved']>,
  kept: TreeFacts | null,
): Promise<Configuration> {
  return inStep(attempt, prepareStep, async () => {
    const { commit } = approved.parts;
    if (kept === null) await unpackTree(attempt, prepareStep);
    await checkJob(attempt, prepareStep, commit);
    const tool = await resolveTool(attempt, prepareStep, { planned: approved.parts.toolVersion });
    const toolVersion = tool.version;
    const isStateOurs = await findStateOwner(attempt, commit);
    const described = describeConfiguration(attempt, { tool, commit, isStateOurs });
    const lockFile = async () => sha256((await readLockFileBytes(attempt, described)) ?? '');
    expectApproved(attempt, approved, { lockFile: await lockFile(), toolVersion });
    expectPlannedSecrets(attempt, approved.parts);
    const configuration = { ...described, written: await writeDriverFiles(attempt, described.context) };
    const commands = await attempt.driver.prepare(described.context);
    for (const command of onlyCommands(commands))
      await runOne(attempt, configuration, { ...command, step: prepareStep }, new Map());
    await checkPrepared(attempt, configuration);
    expectApproved(attempt, approved, { lockFile: await lockFile(), toolVersion });
    return { ...configuration, hasPlugins: await usesPlugins(attempt, described) };
  });
}

/** Compares every part of what is about to be applied with what was approved. */
function expectApproved(
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
  if (part !== null)
    throw new RunFailure(
      `the apply differs from what was approved (${part}), and nothing was applied: deploy again and approve the new plan`,
    );
}

/** Here the values of the plan are known to nobody, so that another one could be neither masked nor compared. */
function expectPlannedSecrets({ job, spool }: AttemptContext, approved: ApprovedParts): void {
  if (approved.secrets === undefined) return;
  if (plannedSecrets(job, spool.inputPlan).secrets !== approved.secrets)
    throw new RunFailure(
      'a secret that a variable of the tool refers to has changed since the plan, and nothing was applied: deploy again and approve the new plan',
    );
}

async function applyCommands(attempt: RunnerAttempt, configuration: Configuration): Promise<OutcomeFacts> {
  const commands = attempt.driver.apply(configuration.context);
  const changing = commands.filter((command) => command.isChanging === true);
  const reading = commands.filter((command) => command.isChanging !== true);
  let state: KnownState | null = null;
  let facts: OutcomeFacts = {};
  let retryCount = 0;
  for (const command of changing) {
    const changed = await changingStep(attempt, configuration, command);
    ({ state, retryCount } = changed);
    facts = { ...facts, ...changed.facts };
  }
  return withFacts(facts, () =>
    withRetryCount(retryCount, async () => {
      const outputs =
        attempt.job.type === 'destroy' ? {} : await outputStep(attempt, configuration, reading, state);
      storeState(attempt, configuration, state);
      return { ...facts, ...outputs };
    }),
  );
}

/** @throws RunFailure if the command fails; the state that it left is stored nevertheless */
async function changingStep(
  attempt: RunnerAttempt,
  configuration: Configuration,
  command: Command,
): Promise<RepeatedChange> {
  let changed: RepeatedChange | undefined;
  try {
    return await inStep(attempt, command.step, async () => {
      const left = (changed = await runWithRetries(attempt, configuration, command));
      await withFacts(left.facts, () =>
        withRetryCount(left.retryCount, async () => {
          if (left.failure !== null) throw left.failure;
          if (attempt.job.type === 'destroy') await tidyUp(attempt, configuration);
        }),
      );
      return left;
    });
  } catch (error) {
    if (changed !== undefined) storeState(attempt, configuration, changed.state);
    throw error;
  }
}

/** Everything has been destroyed: a failed cleanup is only a warning. */
async function tidyUp(attempt: RunnerAttempt, configuration: Configuration): Promise<void> {
  const commands = (await attempt.driver.afterDestroy?.(configuration.context)) ?? [];
  for (const command of commands) {
    try {
      await runOne(attempt, configuration, command, new Map());
    } catch (error) {
      if (!(error instanceof RunFailure) || error.facts.result !== 'failed') throw error;
      return warn(
        attempt,
        command.step,
        `${command.label} failed after everything was destroyed: ${error.message}`,
      );
    }
  }
}

async function outputStep(
  attempt: RunnerAttempt,
  configuration: Configuration,
  commands: readonly Command[],
  state: KnownState | null,
): Promise<OutcomeFacts> {
  const needed = commands.filter(
    (command) => command.isForEncryptedState !== true || state?.isEncrypted === true,
  );
  const step = commands[0]?.step;
  if (step === undefined) return {};
  const captures: Captures = new Map();
  return inStep(attempt, step, async () => {
    for (const command of needed) await runOne(attempt, configuration, command, captures);
    const reading = readOutputs(attempt, captures, state);
    logOutputs(attempt, step, reading.outputs ?? {});
    return reading;
  });
}

function readOutputs(
  { driver, job }: RunnerAttempt,
  captures: Captures,
  state: KnownState | null,
): OutcomeFacts {
  if (driver.state === undefined) return driver.outputs?.read(captures) ?? {};
  const [captured] = captures.values();
  const reading = captured === undefined || captured.length === 0 ? state : driver.state.read(captured);
  return reading === null ? {} : stateFacts(job, reading);
}

/**
 * The step `state:store`, also of runs that failed or were stopped; tools without a state have no such step.
 * The state itself is already in the spool.
 */
export function storeState(
  attempt: AttemptContext,
  configuration: Configuration,
  state: KnownState | null,
): void {
  if (attempt.driver.state === undefined) return;
  if (configuration.context.stateFolder === null) return skipStep(attempt, storeStep);
  attempt.events.append({ kind: 'step', step: storeStep, status: 'IN_PROGRESS' });
  const text =
    state === null
      ? 'There is no state to store.'
      : `State stored: serial ${state.serial}, lineage ${state.lineage}, ${state.resourceCount} resources, ` +
        `SHA-256 ${state.sha256}${state.isNew ? '' : ' (unchanged)'}`;
  logEnd(attempt, storeStep, text);
  attempt.events.append({ kind: 'step', step: storeStep, status: 'SUCCESS' });
}

function logOutputs(
  attempt: AttemptContext,
  step: string,
  outputs: NonNullable<OutcomeFacts['outputs']>,
): void {
  const rows = Object.entries(outputs);
  if (rows.length === 0) logEnd(attempt, step, 'There are no outputs.');
  for (const [name, { value, sensitive }] of rows)
    logEnd(attempt, step, `${name} = ${sensitive ? '(sensitive)' : JSON.stringify(value)}`);
}
