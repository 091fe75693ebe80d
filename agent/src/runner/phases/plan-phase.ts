/** The plan phase: clone, variables, init, workspace, plan; and packing the input of its apply. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256, variablesHash } from '#protocol/approved.ts';
import type { ApprovedParts, Job } from '#protocol/messages/job.ts';
import type { Outcome } from '#protocol/messages/outcome.ts';
import { planOnlyTypes, variablesStep as setupStep, sourceStep } from '#protocol/tools/steps.ts';
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import { inStep, logLine, skipStep } from '../../attempt/attempt-log.ts';
import { patternsOf } from '../../logs/mask.ts';
import { type OutcomeFacts, RunFailure, withFacts } from '../../processes/failure.ts';
import { plannedSecrets } from '../../secret-references/planned-secrets.ts';
import { keepTree, placeFile } from '../../slots/work-folder.ts';
import { isOwn, releaseWorkFolder, removeOwnWorkFolder } from '../../slots/work-folder-owner.ts';
import { checkoutStep } from '../code/checkout-step.ts';
import { packForApply } from '../code/tree-archive.ts';
import { unpackSourceStep } from '../code/unpack-source.ts';
import type { Captures } from '../commands/command-files.ts';
import { runCommands } from '../commands/run-commands.ts';
import type { RunnerAttempt } from '../commands/runner-attempt.ts';
import {
  asRunFailure,
  type Configuration,
  checkJob,
  codeConstraints,
  describeConfiguration,
  findStateOwner,
  stateFilesOf,
  writeDriverFiles,
} from '../configuration/configuration.ts';
import { logImports, refuseImports } from '../configuration/import-resources.ts';
import { estimateCosts } from '../costs/estimate-costs.ts';
import { writePolicyInput } from '../policies/policy-input.ts';
import { runOrReuse } from '../reuse/run-or-reuse.ts';
import { migrateState, refuseToLeaveState } from '../state/migrate-state.ts';
import { refuseEmptyWorkspace } from '../state/refuse-empty-workspace.ts';
import { resolveTool, type ToolNeeds } from '../tool/resolve-tool.ts';
import { inspectCode, writeCaptures } from './inspect-code.ts';
import { planInWords } from './plan-in-words.ts';
import { readValueFiles, requireValueFiles } from './value-files.ts';

/** How a phase ended. */
export interface PhaseEnd {
  readonly result: Outcome['result'];
  readonly facts: OutcomeFacts;
  /** Keeps or removes the work folder, once all processes of the phase have ended. */
  settle(): void;
}

/** A configuration that is ready for its tool. */
export interface Prepared {
  readonly configuration: Configuration;
  /** Empty if the code was uploaded. */
  readonly commit: string;
  readonly facts: OutcomeFacts;
}

/** @throws RunFailure if a step fails */
export async function prepareConfiguration(attempt: RunnerAttempt): Promise<Prepared> {
  const source = await fetchSource(attempt);
  return withFacts(source, async () => {
    const commit = source.commit ?? '';
    const configuration = await setUp(attempt, commit);
    const facts = { ...source, ...configurationFacts(configuration) };
    await withFacts(facts, async () => {
      const prepare = await attempt.driver.prepare(configuration.context);
      await runCommands(attempt, configuration, prepare, {
        replace: (command, run) => runOrReuse(attempt, { configuration, command, commit }, run),
        beforeLast: () => refuseEmptyWorkspace(attempt, configuration),
        afterLast: () => checkPrepared(attempt, configuration),
      });
    });
    const startsPlugins = await usesPlugins(attempt, configuration);
    return { configuration: { ...configuration, hasPlugins: startsPlugins }, commit, facts };
  });
}

async function fetchSource(attempt: AttemptContext): Promise<Pick<OutcomeFacts, 'commit'>> {
  const { archive, chart } = attempt.job.source;
  if (chart !== undefined) {
    skipStep(attempt, sourceStep(attempt.job.type));
    return {};
  }
  if (archive === undefined) return { commit: await checkoutStep(attempt) };
  await unpackSourceStep(attempt);
  return {};
}

/** The facts about a configuration that its outcome contains. */
export function configurationFacts({
  tool,
  context,
}: Configuration): Pick<OutcomeFacts, 'toolVersion' | 'isStateOurs'> {
  return { toolVersion: tool.version, isStateOurs: context.stateFolder !== null };
}

/** @throws RunFailure if a step fails */
export async function planPhase(attempt: RunnerAttempt): Promise<PhaseEnd> {
  const prepared = await prepareConfiguration(attempt);
  const planned = await withFacts(prepared.facts, () => plan(attempt, prepared));
  const settle = () => settlePlan(attempt, prepared.configuration, planned.approvedParts);
  return { result: 'planned', facts: { ...prepared.facts, ...planned }, settle };
}

/** From the first command of a plan until its tool has certainly been started. */
const toolStartMilliseconds = 20;

// The input of the apply is packed while the tool still prints the plan.
async function plan(attempt: RunnerAttempt, prepared: Prepared): Promise<OutcomeFacts> {
  const { configuration } = prepared;
  const mayBeApplied = !planOnlyTypes.includes(attempt.job.type);
  const commands = attempt.driver.plan(configuration.context);
  const step = commands.at(-1)?.step ?? setupStep;
  const compose = attempt.driver.savedPlan?.compose;
  const values = mayBeApplied ? await readValueFiles(attempt, configuration) : null;
  let kept: Promise<ApprovedParts> | undefined;
  let facts: OutcomeFacts = {};
  let captures: Captures;
  // While the tool plans, nothing else is to be done; afterwards, the plan would wait for it.
  const early = setTimeout(() => patternsOf(attempt.job.secrets), toolStartMilliseconds);
  try {
    captures = await runCommands(attempt, configuration, commands, {
      beforeLast: async () => logImports(attempt, step),
      onSettled: () => {
        if (mayBeApplied && compose === undefined) kept = keepForApply(attempt, prepared, step);
        kept?.catch(() => undefined);
      },
      afterLast: async (captures) => {
        const planFacts = await readPlan(attempt, configuration, step, captures);
        const composed = mayBeApplied ? await compose?.(configuration.context, captures) : undefined;
        if (composed !== undefined) kept = keepForApply(attempt, prepared, step, composed);
        const approvedParts = await withFacts(planFacts, async () => {
          if (values !== null) await requireValueFiles(attempt, configuration, values);
          return kept;
        });
        facts = { ...planFacts, ...(approvedParts === undefined ? {} : { approvedParts }) };
      },
    });
  } finally {
    clearTimeout(early);
    await Promise.allSettled([kept]);
  }
  return withFacts(facts, async () => {
    const costs = await estimateCosts(attempt, configuration, captures);
    await writePolicyInput(attempt, configuration, captures, facts.plan);
    return { ...facts, ...costs };
  });
}

async function readPlan(
  attempt: RunnerAttempt,
  { context }: Configuration,
  step: string,
  captures: Captures,
): Promise<OutcomeFacts> {
  const { remarks = [], ...reading } = await asRunFailure(() => attempt.driver.readPlan(context, captures));
  for (const remark of remarks) logLine(attempt, step, remark);
  if (attempt.driver.isPlanLogged === true) logLine(attempt, step, planInWords(reading.plan));
  return reading;
}

/** Puts the current state where the tool expects it, before any process of the slot has started. */
export function placeState(attempt: AttemptContext): void {
  const { job, spool, folders, order, driver } = attempt;
  if (job.state.current === undefined || driver.state === undefined) return;
  if (!existsSync(spool.inputState))
    throw new RunFailure("the current state is missing in the attempt's folder", { result: 'internal' });
  const stored = readFileSync(spool.inputState);
  if (sha256(stored) !== job.state.current.sha256) {
    throw new RunFailure(
      "the state in the attempt's folder is not the current version: its checksum differs",
      { result: 'internal' },
    );
  }
  const { file } = driver.state;
  if (file === undefined) return;
  const problem = file.storedProblem?.(job, stored) ?? null;
  if (problem !== null) throw new RunFailure(problem);
  const { name, several } = stateFilesOf(attempt, file);
  for (const [part, content] of several?.split(stored) ?? [[name, stored]])
    placeFile(folders.state, part, content, order.slotUid);
}

/** @throws RunFailure if the preparation left the state in the wrong place */
export async function checkPrepared(attempt: AttemptContext, configuration: Configuration): Promise<void> {
  const problem = await attempt.driver.state?.file?.checkPrepared(configuration.context);
  if (problem) throw new RunFailure(problem);
}

/** The maximum size of a lock file. */
export const lockFileBytes = 10_000_000;

/** The bytes of the lock file; null if there is none. */
export async function readLockFileBytes(
  attempt: AttemptContext,
  configuration: Pick<Configuration, 'context'>,
): Promise<Uint8Array | null> {
  const { lockFile } = attempt.driver;
  if (lockFile === undefined) return null;
  try {
    return await attempt.tree.read(configuration.context.configurationFolder, lockFile, lockFileBytes);
  } catch (error) {
    throw new RunFailure(`the lock file cannot be read: ${(error as Error).message}`);
  }
}

/** Whether the commands of a prepared configuration start plugins of the tool. */
export async function usesPlugins(
  attempt: AttemptContext,
  configuration: Pick<Configuration, 'context'>,
): Promise<boolean> {
  return hasPlugins(attempt, await readLockFileBytes(attempt, configuration));
}

/** The same, by the configuration's lock file. */
export function hasPlugins({ driver }: AttemptContext, lockFile: Uint8Array | null): boolean {
  const text = lockFile === null ? null : new TextDecoder().decode(lockFile);
  return driver.collector?.hasPlugins(text) !== false;
}

/** Later levels are planned by the programs of the first one. */
function programsOfLevel({ level }: Job): Pick<ToolNeeds, 'planned' | 'plannedCompanions'> {
  const { toolVersion, companions } = level ?? {};
  return {
    ...(toolVersion === undefined ? {} : { planned: toolVersion }),
    ...(companions === undefined ? {} : { plannedCompanions: companions }),
  };
}

async function setUp(attempt: RunnerAttempt, commit: string): Promise<Configuration> {
  return inStep(attempt, setupStep, async () => {
    await checkJob(attempt, setupStep, commit);
    const tool = await resolveTool(attempt, setupStep, {
      ...programsOfLevel(attempt.job),
      required: (program) => codeConstraints(attempt, program),
    });
    const toolVersion = tool.version;
    await withFacts({ toolVersion }, async () => refuseImports(attempt, toolVersion));
    const inspected = await withFacts({ toolVersion }, () =>
      inspectCode(attempt, setupStep, { tool, commit }),
    );
    const isStateOurs = await withFacts({ toolVersion }, () => findStateOwner(attempt, commit, inspected));
    return withFacts({ toolVersion, isStateOurs }, async () => {
      const facts = { tool, commit, isStateOurs, inspected };
      refuseToLeaveState(attempt, isStateOurs);
      await migrateState(attempt, setupStep, facts);
      const described = describeConfiguration(attempt, facts);
      return { ...described, written: await writeDriverFiles(attempt, described.context) };
    });
  });
}

async function keepForApply(
  attempt: AttemptContext,
  { configuration, commit }: Prepared,
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

function settlePlan(
  attempt: AttemptContext,
  configuration: Configuration,
  approvedParts: ApprovedParts | undefined,
): void {
  if (approvedParts === undefined) return removeOwnWorkFolder(attempt.folders, attempt.job);
  if (!isOwn(attempt.folders, attempt.job)) return;
  const { jobId, attempt: number, fence } = attempt.job;
  const facts = {
    isStateOurs: configuration.context.stateFolder !== null,
    toolVersion: approvedParts.toolVersion,
    secretFiles: configuration.written.secret.map((name) => join(configuration.path, name)),
    inspected: writeCaptures(configuration.context.inspected ?? new Map()),
  };
  keepTree(attempt.folders, { jobId, attempt: number, fence }, attempt.order.slotUid, facts);
  releaseWorkFolder(attempt.folders);
}
