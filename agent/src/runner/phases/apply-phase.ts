/**
 * The apply phase: applies the approved plan in the tree that it was made in, and stores the resulting state.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { approvedHash, differingPart, sha256, variablesHash } from '#protocol/approved.ts';
import type { ApprovedParts, Job } from '#protocol/messages/job.ts';
import { type RunnableTool, tools } from '#protocol/tools/index.ts';
import { restoreStep as prepareStep } from '#protocol/tools/steps.ts';
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import { type Command, onlyCommands } from '../../drivers/interface/command.ts';
import { type OutcomeFacts, RunFailure } from '../../processes/failure.ts';
import { plannedSecrets } from '../../secret-references/planned-secrets.ts';
import { readInside } from '../../slots/closed-tree.ts';
import { readKept, type TreeFacts } from '../../slots/work-folder.ts';
import { removeOwnWorkFolder } from '../../slots/work-folder-owner.ts';
import { unpackTree } from '../code/tree-archive.ts';
import type { Captures } from '../commands/command-files.ts';
import { givenCaptures, runOne } from '../commands/run-commands.ts';
import { type RunnerAttempt, stateFacts } from '../commands/runner-attempt.ts';
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
  usesPlugins,
  writeDriverFiles,
} from '../configuration/configuration.ts';
import type { KnownState } from '../state/spooled-states.ts';
import { findLocalTool, resolveTool, type ToolNeeds } from '../tool/resolve-tool.ts';
import { ApplyWork, notApproved } from './apply-work.ts';
import type { PhaseEnd } from './phase-end.ts';
import { inspectCode, readCaptures } from './prepare-configuration.ts';
import { withRetryCount } from './run-with-retries.ts';
import { storeState } from './store-state.ts';
import { readValueFiles, requireValueFiles } from './value-files.ts';

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
  attempt.facts.add({ commit });
  const isReady = kept !== null && attempt.driver.savedPlan?.isTreeReady === true;
  const configuration = await (isReady
    ? continueWith(attempt, approved, kept)
    : restore(attempt, approved, kept));
  const { tool, context } = configuration;
  attempt.facts.add({ toolVersion: tool.version, isStateOurs: context.stateFolder !== null });
  await applyCommands(attempt, configuration);
  return { result: 'applied', settle: () => removeOwnWorkFolder(attempt.folders, attempt.job) };
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
    await attempt.steps.run(prepareStep, async () => requireSecrets(attempt));
  // The planning tool may have been removed from the PATH or the cache.
  const local = await findLocalTool(attempt, kept.toolVersion);
  if (local !== null) attempt.steps.skip(prepareStep);
  const tool =
    local ??
    (await attempt.steps.run(prepareStep, () =>
      resolveTool(
        attempt,
        prepareStep,
        needsOf(attempt, { ...approved.parts, toolVersion: kept.toolVersion }),
      ),
    ));
  const described = describeConfiguration(attempt, {
    tool,
    commit: approved.parts.commit,
    isStateOurs: kept.isStateOurs,
    inspected: readCaptures(kept.inspected ?? {}),
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

/** Prepares a transferred tree, or a kept one if the tool saves no plan. */
async function restore(
  attempt: RunnerAttempt,
  approved: NonNullable<Job['approved']>,
  kept: TreeFacts | null,
): Promise<Configuration> {
  return attempt.steps.run(prepareStep, async () => {
    const { commit } = approved.parts;
    if (kept === null) await unpackTree(attempt, prepareStep);
    await checkJob(attempt, prepareStep, commit);
    const tool = await resolveTool(attempt, prepareStep, needsOf(attempt, approved.parts));
    const toolVersion = tool.version;
    const inspected = await inspectCode(attempt, prepareStep, { tool, commit });
    const isStateOurs = await findStateOwner(attempt, commit, inspected);
    const described = describeConfiguration(attempt, { tool, commit, isStateOurs, inspected });
    const lockFile = async () => sha256((await readLockFileBytes(attempt, described)) ?? '');
    expectApproved(attempt, approved, { lockFile: await lockFile(), toolVersion });
    expectPlannedSecrets(attempt, approved.parts);
    const configuration = { ...described, written: await writeDriverFiles(attempt, described.context) };
    const values = await readValueFiles(attempt, described);
    const commands = await attempt.driver.prepare(described.context);
    for (const command of onlyCommands(commands))
      await runOne(attempt, configuration, { ...command, step: prepareStep }, givenCaptures(attempt));
    await checkPrepared(attempt, configuration);
    await requireValueFiles(attempt, described, values);
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
  if (part !== null) throw notApproved(part);
}

/** Here the values of the plan are known to nobody, so that another one could be neither masked nor compared. */
function expectPlannedSecrets({ job, spool }: AttemptContext, approved: ApprovedParts): void {
  if (approved.secrets === undefined) return;
  if (plannedSecrets(job, spool.inputPlan).secrets !== approved.secrets)
    throw new RunFailure(
      'a secret that a variable of the tool refers to has changed since the plan, and nothing was applied: deploy again and approve the new plan',
    );
}

async function applyCommands(attempt: RunnerAttempt, configuration: Configuration): Promise<void> {
  const { driver, job } = attempt;
  const { outputs } = tools[driver.type as RunnableTool].steps;
  const commands = driver.apply(configuration.context);
  const reading = commands.filter(({ step }) => step === outputs);
  const work = new ApplyWork(attempt, configuration);
  await work.run(commands.filter((command) => !reading.includes(command)));
  await withRetryCount(work.retryCount, async () => {
    const read = job.type === 'destroy' ? {} : await outputStep(attempt, configuration, reading, work);
    storeState(attempt, configuration, work.state);
    attempt.facts.add(read);
  });
}

async function outputStep(
  attempt: RunnerAttempt,
  configuration: Configuration,
  commands: readonly Command[],
  { state, captures }: ApplyWork,
): Promise<OutcomeFacts> {
  const needed = commands.filter(
    (command) => command.isForEncryptedState !== true || state?.isEncrypted === true,
  );
  const step = commands[0]?.step;
  if (step === undefined) return readOutputs(attempt, configuration, captures, state);
  return attempt.steps.run(step, async () => {
    for (const command of needed) await runOne(attempt, configuration, command, captures);
    const reading = readOutputs(attempt, configuration, captures, state);
    logOutputs(attempt, step, reading.outputs ?? {});
    return reading;
  });
}

function readOutputs(
  { driver, job }: RunnerAttempt,
  { context }: Configuration,
  captures: Captures,
  state: KnownState | null,
): OutcomeFacts {
  if (driver.state?.file === undefined || driver.outputs !== undefined)
    return driver.outputs?.read(captures) ?? {};
  const [captured] = captures.values();
  const read = () =>
    captured === undefined || captured.length === 0 ? state : (driver.state?.read(captured) ?? null);
  const reading = driver.state.after === undefined ? read() : driver.state.after(context, captures, state);
  return reading === null ? {} : stateFacts(job, reading);
}

function logOutputs(
  attempt: AttemptContext,
  step: string,
  outputs: NonNullable<OutcomeFacts['outputs']>,
): void {
  const rows = Object.entries(outputs);
  if (rows.length === 0) attempt.steps.logEnd(step, 'There are no outputs.');
  for (const [name, { value, sensitive }] of rows)
    attempt.steps.logEnd(step, `${name} = ${sensitive ? '(sensitive)' : JSON.stringify(value)}`);
}
