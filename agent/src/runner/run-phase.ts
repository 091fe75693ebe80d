/** One attempt from its order to its outcome. */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { TemplateType } from '#contract/schema/enumerations.ts';
import type { Job } from '#protocol/messages/job.ts';
import type { Outcome } from '#protocol/messages/outcome.ts';
import type { Driver } from '../drivers/driver.ts';
import { endProcessesOf, processesOf } from '../processes/end-processes.ts';
import {
  closeWorkFolder,
  createWorkFolder,
  placeFile,
  removeWorkFolder,
  reopenWorkFolder,
  workFolderPaths,
} from '../slots/work-folder.ts';
import { type RunnerOrder, spoolPaths } from '../spool/layout.ts';
import { applyPhase, keptTree } from './phases/apply-phase.ts';
import type { AttemptContext } from '../attempt/attempt-context.ts';
import { EventLog } from '../attempt/event-log.ts';
import { asFailure, RunFailure } from '../processes/failure.ts';
import { adviceForFullDisk, isFullDisk } from '../processes/full-disk.ts';
import { type PhaseEnd, placeState, planPhase } from './phases/plan-phase.ts';
import { openProviderAccess } from '../providers/provider-access.ts';
import { StopWatch } from '../processes/stop-watch.ts';
import { taskPhase } from './phases/task-phase.ts';
import type { RunnerAttempt } from './runner-attempt.ts';
import { TreeClient } from './tree/tree-client.ts';

export type Drivers = Readonly<Partial<Record<TemplateType, Driver>>>;

/**
 * Runs the phase of an order. All its processes have ended when this returns; the outcome is not written yet.
 * @throws only errors of the runner itself
 */
export async function runPhase(order: RunnerOrder, drivers: Drivers): Promise<Outcome> {
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
  using stop = new StopWatch(spool, job.limits, job.type);
  using events = new EventLog(spool.events);
  const folders = workFolderPaths(order.workFolder, job);
  const { slotUid } = order;
  // All processes of the previous attempt were ended after it, unless that failed.
  if (slotUid !== null && processesOf(slotUid).length > 0) await endProcessesOf(slotUid);
  const attempt: AttemptContext = {
    job,
    order,
    spool,
    folders,
    driver,
    stop,
    events,
    // Starts while git is working.
    tree: new TreeClient(slotUid),
  };
  const end = await endOf(attempt);
  await attempt.tree[Symbol.asyncDispose]();
  if (slotUid !== null) await endProcessesOf(slotUid);
  end.settle();
  rmSync(join(spool.folder, 'scratch'), { recursive: true, force: true });
  events.sync();
  const { result, facts, failure } = end;
  return { workFolder: order.workFolder, ...facts, result, finishedAt: now(), ...failure };
}

interface End extends PhaseEnd {
  readonly failure?: Pick<Outcome, 'failedCommand' | 'error'>;
}

async function endOf(attempt: AttemptContext): Promise<End> {
  try {
    attempt.stop.throwIfStopped();
    if (attempt.job.phase === 'plan') return await startPlan(attempt);
    return await startApply(attempt);
  } catch (error) {
    return failed(attempt, error);
  }
}

async function startPlan(context: AttemptContext): Promise<PhaseEnd> {
  createWorkFolder(context.folders, context.order.slotUid);
  refuseFirst(context);
  await using providers = openProviderAccess(context);
  const attempt: RunnerAttempt = { ...context, providers };
  placeState(attempt);
  return await (attempt.job.type === 'task' ? taskPhase(attempt) : planPhase(attempt));
}

async function startApply(context: AttemptContext): Promise<PhaseEnd> {
  const { folders, order, spool } = context;
  const kept = keptTree(context);
  if (kept === null) createWorkFolder(folders, order.slotUid);
  else reopenWorkFolder(folders, order.slotUid);
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
  if (hasPlan) placeFile(folders.plan, basename(folders.planFile), spool.inputPlan, order.slotUid);
  return await applyPhase(attempt, kept);
}

// Called before the state file is named: a refused job may specify any name.
function refuseFirst(attempt: AttemptContext): void {
  const refusals = attempt.driver.refusals(attempt.job);
  if (refusals.length > 0) throw new RunFailure(refusals.join('\n'));
}

function failed(attempt: AttemptContext, error: unknown): End {
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

function explained({ folders, spool }: AttemptContext, error: unknown): string {
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
