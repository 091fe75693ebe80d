/** One attempt from its order to its outcome. */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { TemplateType } from '#contract/schema/enumerations.ts';
import type { Job } from '#protocol/messages/job.ts';
import type { Outcome } from '#protocol/messages/outcome.ts';
import type { Driver } from '../drivers/driver.ts';
import { endProcessesOf } from '../processes/end-processes.ts';
import {
  closeWorkFolder,
  createWorkFolder,
  removeWorkFolder,
  reopenWorkFolder,
  sealPlan,
  type TreeFacts,
  workFolderPaths,
  type WorkFolderPaths,
} from '../slots/work-folder.ts';
import { type RunnerOrder, spoolPaths } from '../spool/layout.ts';
import { applyPhase, keptTree } from './phases/apply-phase.ts';
import type { AttemptContext } from '../attempt/attempt-context.ts';
import { EventLog } from '../attempt/event-log.ts';
import { asFailure, RunFailure } from '../processes/failure.ts';
import { adviceForFullDisk, isFullDisk } from '../processes/full-disk.ts';
import { type PhaseEnd, placeState, planPhase } from './phases/plan-phase.ts';
import { openProviderAccess } from '../providers/provider-access.ts';
import { findProgram } from '../processes/programs.ts';
import { passLimitsOn, ResourceWatch } from '../processes/run-limits.ts';
import { StopWatch } from '../processes/stop-watch.ts';
import { taskPhase } from './phases/task-phase.ts';
import type { RunnerAttempt } from './runner-attempt.ts';
import type { KeptTreeProcess } from './tree/kept-tree-process.ts';
import { TreeClient } from './tree/tree-client.ts';

export type Drivers = Readonly<Partial<Record<TemplateType, Driver>>>;

/**
 * Runs the phase of an order. All its processes have ended when this returns, except one that only reads and
 * writes the folders, where the apply follows at once; the outcome is not written yet.
 * @param keptProcess what the plan before kept
 * @throws only errors of the runner itself
 */
export async function runPhase(
  order: RunnerOrder,
  drivers: Drivers,
  keptProcess: KeptTreeProcess,
): Promise<Outcome> {
  const spool = spoolPaths(order.attemptFolder);
  const job = JSON.parse(readFileSync(spool.job, 'utf8')) as Job;
  const driver = drivers[job.tool];
  if (driver === undefined)
    return {
      result: 'failed',
      finishedAt: now(),
      error: { message: `this agent does not support ${job.tool}: update it` },
    };
  for (const folder of [spool.steps, spool.states, spool.outputs])
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (order.slotUid !== null && order.runLimits !== undefined)
    passLimitsOn(order.runLimits, findProgram('prlimit'));
  using events = new EventLog(spool.events);
  const folders = workFolderPaths(order.workFolder, job);
  using stop = new StopWatch(spool, job.limits, job.type, watchOf(order, folders));
  await endRunProcesses(order);
  const context = { job, order, spool, folders, driver, stop, events };
  const end = await endOf(context, keptProcess);
  await endRunProcesses(order);
  end.settle();
  rmSync(join(spool.folder, 'scratch'), { recursive: true, force: true });
  const { result, facts, failure } = end;
  return { workFolder: order.workFolder, ...facts, result, finishedAt: now(), ...failure };
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

interface End extends PhaseEnd {
  readonly failure?: Pick<Outcome, 'failedCommand' | 'error'>;
}

/** An attempt before the process that reads its folders is there. */
type Starting = Omit<AttemptContext, 'tree'>;

async function endOf(context: Starting, keptProcess: KeptTreeProcess): Promise<End> {
  try {
    context.stop.throwIfStopped();
    const kept = keptTree(context);
    const running = await keptProcess.take(kept === null ? null : (context.job.approved?.continues ?? null));
    openFolders(context, kept);
    const { folders, order, job } = context;
    const { slotUid, isolation } = order;
    // Started before it is needed, while git works.
    await using tree = new TreeClient(
      { slotUid, sandbox: isolation.bubblewrap === null ? null : { isolation, folders } },
      running,
    );
    const attempt = { ...context, tree };
    try {
      const end = await (job.phase === 'plan' ? startPlan(attempt) : startApply(attempt, kept));
      if (appliesAtOnce(attempt, end)) keptProcess.keep(tree.handOver(), job);
      return end;
    } catch (error) {
      return failed(attempt, error);
    }
  } catch (error) {
    return failed(context, error);
  }
}

/** Whether the apply may use the process that reads the folders. Without a sandbox, it ends with the run's. */
function appliesAtOnce({ job, order }: Starting, { facts }: PhaseEnd): boolean {
  const isPlanned = job.phase === 'plan' && facts.approvedParts !== undefined;
  return isPlanned && job.isApprovalSkipped === true && order.isolation.bubblewrap !== null;
}

/** Makes the folders of the run. @param kept what is known of the tree of its plan, where that is still there */
function openFolders({ folders, order, job, spool }: Starting, kept: TreeFacts | null): void {
  if (kept === null) createWorkFolder(folders, order.slotUid);
  else reopenWorkFolder(folders, order.slotUid);
  // Before anything shows the folders to a command.
  if (job.phase === 'apply' && existsSync(spool.inputPlan))
    sealPlan(folders, basename(folders.planFile), spool.inputPlan);
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

async function startApply(context: AttemptContext, kept: TreeFacts | null): Promise<PhaseEnd> {
  const { spool } = context;
  if (kept === null && !existsSync(spool.inputTree))
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
  return await applyPhase(attempt, kept);
}

// Before the state gets its name: a job that is refused may name it anyhow.
function refuseFirst(attempt: Starting): void {
  const refusals = attempt.driver.refusals(attempt.job);
  if (refusals.length > 0) throw new RunFailure(refusals.join('\n'));
}

function failed(attempt: Starting, error: unknown): End {
  const { facts, known } = asFailure(error);
  const { result, failedCommand, exitCode, retryCount } = facts;
  const isKept = result === 'internal' && existsSync(attempt.spool.mark);
  return {
    result,
    facts: known,
    settle: () => (isKept ? closeWorkFolder(attempt.folders) : removeWorkFolder(attempt.folders)),
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

function explained({ folders, spool }: Starting, error: unknown): string {
  const { message } = asFailure(error);
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
