/** One attempt from its order to its outcome. */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { basename } from 'node:path';
import type { TemplateType } from '#contract/schema/enumerations.ts';
import { normalizePath } from '#guards/source-guards.ts';
import type { Job } from '#protocol/messages/job.ts';
import type { Outcome } from '#protocol/messages/outcome.ts';
import { longVariables, runEnvironment } from '#protocol/run-environment.ts';
import { type RunnableTool, tools } from '#protocol/tools/index.ts';
import { restoreStep, variablesStep } from '#protocol/tools/steps.ts';
import { usableVariables } from '#protocol/tools/usable-variables.ts';
import type { AttemptContext } from '../attempt/attempt-context.ts';
import { EventLog } from '../attempt/event-log.ts';
import { FactCollector } from '../attempt/fact-collector.ts';
import { StepRecorder } from '../attempt/step-recorder.ts';
import { renewCredentialFiles, writeCredentialFiles } from '../credentials/credential-files.ts';
import { Diagnostics } from '../drivers/interface/diagnostics.ts';
import type { Driver } from '../drivers/interface/driver.ts';
import { endProcessesOf } from '../processes/end-processes.ts';
import { asFailure, RunFailure } from '../processes/failure.ts';
import { adviceForFullDisk, isFullDisk } from '../processes/full-disk.ts';
import { findProgram } from '../processes/programs.ts';
import { passLimitsOn, ResourceWatch } from '../processes/run-limits.ts';
import { StopWatch } from '../processes/stop-watch.ts';
import { lockFileAdvice } from '../providers/lock-advice.ts';
import { openProviderAccess } from '../providers/provider-access.ts';
import { unpackFiles } from '../slots/packed-files.ts';
import { forceRemoveSync } from '../slots/remove-folder.ts';
import {
  closeWorkFolder,
  createWorkFolder,
  reopenWorkFolder,
  sealPlan,
  sealPlanFolder,
  type TreeFacts,
  type WorkFolderPaths,
  workFolderPaths,
} from '../slots/work-folder.ts';
import {
  clearWorkFolder,
  isOwn,
  releaseWorkFolder,
  removeOwnWorkFolder,
  takeWorkFolder,
} from '../slots/work-folder-owner.ts';
import { type RunnerOrder, spoolPaths } from '../spool/layout.ts';
import type { RunnerAttempt } from './commands/runner-attempt.ts';
import { applyPhase, keptTree } from './phases/apply-phase.ts';
import type { PhaseEnd } from './phases/phase-end.ts';
import { planPhase } from './phases/plan-phase.ts';
import { taskPhase } from './phases/task-phase.ts';
import { placeState } from './state/place-state.ts';
import type { TreeLender } from './tree/tree-lender.ts';

export type Drivers = Readonly<Partial<Record<TemplateType, Driver>>>;

/**
 * Runs the phase of an order. All its processes have ended when this returns; the outcome is not written yet.
 * @param lender lends the process that reads and writes the folders
 * @throws only errors of the runner itself
 */
export async function runPhase(order: RunnerOrder, drivers: Drivers, lender: TreeLender): Promise<Outcome> {
  const spool = spoolPaths(order.attemptFolder);
  const received = JSON.parse(readFileSync(spool.job, 'utf8')) as Job;
  const driver = drivers[received.tool];
  if (driver === undefined)
    return {
      result: 'failed',
      finishedAt: now(),
      error: { message: `this agent does not support ${received.tool}: update it` },
    };
  const { variables, leftOut } = usableVariables(received, tools[driver.type as RunnableTool]);
  const job: Job = { ...received, variables };
  for (const folder of [spool.steps, spool.states, spool.outputs, spool.scratch])
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (order.slotUid !== null && order.runLimits !== undefined)
    passLimitsOn(order.runLimits, findProgram('prlimit'));
  using events = new EventLog(spool.events);
  const folders = workFolderPaths(order.workFolder, job);
  using stop = new StopWatch(spool, job.limits, job.type, watchOf(order, folders));
  const steps = new StepRecorder(spool, events, stop);
  await endRunProcesses(order);
  const diagnostics = new Diagnostics();
  const facts = new FactCollector();
  const path = normalizePath(job.source.path ?? '');
  const environment = runEnvironment(job);
  const context = {
    job,
    path,
    environment,
    leftOut,
    order,
    spool,
    folders,
    driver,
    stop,
    events,
    steps,
    diagnostics,
    facts,
  };
  const end = await endOf(context, lender);
  await endRunProcesses(order);
  if (isOwn(folders, job)) forceRemoveSync(folders.credentials);
  end.endWorkFolder();
  await events.flush();
  rmSync(spool.scratch, { recursive: true, force: true });
  const { result, failure } = end;
  const found = diagnostics.all();
  const reported = found.length === 0 ? {} : { diagnostics: found };
  return { workFolder: order.workFolder, ...facts.all, ...reported, result, finishedAt: now(), ...failure };
}

function watchOf(
  { runLimits, slotUid, isolation, attemptFolder }: RunnerOrder,
  { root }: WorkFolderPaths,
): ResourceWatch | null {
  if (runLimits === undefined) return null;
  return new ResourceWatch(runLimits, {
    // Nothing leaves a sandbox, so the whole machine need not be scanned four times a second.
    slotUid: isolation.bubblewrap === null ? slotUid : null,
    workRoot: root,
    spoolFolder: attemptFolder,
  });
}

interface RunEnd extends PhaseEnd {
  readonly failure?: Pick<Outcome, 'failedCommand' | 'error'>;
}

/** An attempt before the process that reads its folders is there. */
type Starting = Omit<AttemptContext, 'tree'>;

async function endOf(context: Starting, lender: TreeLender): Promise<RunEnd> {
  try {
    context.stop.throwIfStopped();
    const kept = keptTree(context);
    openFolders(context, kept);
    using _renewal = renewCredentialFiles(context.folders, context.job, context.order.slotUid);
    await using tree = lender.lend(context.order, context.folders);
    const attempt = { ...context, tree };
    try {
      return await (context.job.phase === 'plan' ? startPlan(attempt) : startApply(attempt, kept));
    } catch (error) {
      return failed(attempt, error);
    }
  } catch (error) {
    return failed(context, error);
  }
}

/** Makes the folders of the run. @param keptTree what is known of the tree of its plan, where that is still there */
function openFolders({ folders, order, job, spool, driver }: Starting, keptTree: TreeFacts | null): void {
  if (keptTree === null) {
    clearWorkFolder(folders, job);
    createWorkFolder(folders, order.slotUid);
  } else reopenWorkFolder(folders, order.slotUid);
  takeWorkFolder(folders, job, spool.folder);
  // Before anything shows the folders to a command.
  writeCredentialFiles(folders, job, order.slotUid);
  if (job.phase !== 'apply' || !existsSync(spool.inputPlan)) return;
  const name = basename(folders.planFile);
  if (driver.savedPlan?.isFolder === true)
    sealPlanFolder(folders, name, unpackFiles(readFileSync(spool.inputPlan)), order.slotUid);
  else sealPlan(folders, name, spool.inputPlan, order.slotUid);
}

/** A sandbox ends with all its processes; without one, their uid identifies them. */
async function endRunProcesses({ slotUid, isolation }: RunnerOrder): Promise<void> {
  if (slotUid !== null && isolation.bubblewrap === null) await endProcessesOf(slotUid);
}

async function startPlan(context: AttemptContext): Promise<PhaseEnd> {
  refuseFirst(context);
  await using providers = openProviderAccess(context);
  const attempt: RunnerAttempt = { ...context, providers };
  placeState(attempt);
  return await (attempt.job.type === 'task' ? taskPhase(attempt) : planPhase(attempt));
}

async function startApply(context: AttemptContext, keptTree: TreeFacts | null): Promise<PhaseEnd> {
  const { spool } = context;
  if (keptTree === null && !existsSync(spool.inputTree))
    throw new RunFailure("the tree of the plan was not kept and is missing in the attempt's folder", {
      result: 'internal',
    });
  const hasPlan = context.driver.savedPlan !== undefined;
  if (hasPlan && !existsSync(spool.inputPlan))
    throw new RunFailure("the approved plan is missing in the attempt's folder", { result: 'internal' });
  refuseFirst(context);
  await using providers = openProviderAccess(context);
  const attempt: RunnerAttempt = { ...context, providers };
  placeState(attempt);
  return await applyPhase(attempt, keptTree);
}

// Before the state gets its name: a job that is refused may name it anyhow.
function refuseFirst(attempt: Starting): void {
  const refusals = [...longVariables(attempt.job), ...attempt.driver.refusals(attempt.job)];
  if (refusals.length > 0) throw new RunFailure(refusals.join('\n'));
}

function failed(attempt: Starting, error: unknown): RunEnd {
  const { facts } = asFailure(error);
  const { result, failedCommand, exitCode, retryCount } = facts;
  const isKept = result === 'internal' && existsSync(attempt.spool.mark);
  if (result !== 'aborted' && !attempt.events.hasFailedStep) failFirstStep(attempt, error);
  return {
    result,
    endWorkFolder: () => (isKept ? leaveToAgent(attempt) : removeOwnWorkFolder(attempt.folders, attempt.job)),
    failure: {
      ...(failedCommand === undefined ? {} : { failedCommand }),
      error: {
        message: explained(attempt, error),
        ...(exitCode === undefined ? {} : { exitCode }),
        ...(retryCount === undefined ? {} : { retryCount }),
      },
    },
  };
}

/**
 * Failures before any step, such as a variable that no run can have, are shown at the first one that is the
 * runner's own.
 */
function failFirstStep(attempt: Starting, error: unknown): void {
  attempt.steps.fail(attempt.job.phase === 'plan' ? variablesStep : restoreStep, error);
}

/** The agent keeps the folder of a run that may have left an incomplete state. */
function leaveToAgent({ folders, job }: Starting): void {
  if (!isOwn(folders, job)) return;
  closeWorkFolder(folders);
  releaseWorkFolder(folders);
}

function explained({ folders, spool, driver }: Starting, error: unknown): string {
  const { message } = asFailure(error);
  const lockAdvice = lockFileAdvice(
    driver.lockFile === undefined ? null : (driver.programs[0] ?? null),
    message,
  );
  if (lockAdvice !== null) return `${message}\n\n${lockAdvice}`;
  if (!isFullDisk(error)) return message;
  const advice = adviceForFullDisk([
    { what: 'spool folder', path: spool.folder },
    { what: 'work folder', path: folders.root },
  ]);
  return `${message}\n\n${advice}`;
}

function now(): string {
  return new Date().toISOString();
}
