/**
 * Recovers an attempt whose runner ended without an outcome: waits for its tool, which the kernel
 * interrupted, keeps the last state, and writes an outcome that includes it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Job } from '#protocol/messages/job.ts';
import type { Outcome } from '#protocol/messages/outcome.ts';
import { driverOf } from '../drivers/index.ts';
import type { Launcher } from '../launchers/launcher.ts';
import { endProcessesOf, processesIn, processesOf } from '../processes/end-processes.ts';
import { secondInterruptMilliseconds } from '../processes/exec.ts';
import { programNameOf, signalQuietly } from '../processes/proc.ts';
import { processesHolding } from '../processes/processes-holding.ts';
import { workFolderPaths } from '../slots/work-folder.ts';
import { isOwn } from '../slots/work-folder-owner.ts';
import type { SpoolPaths } from '../spool/layout.ts';
import { readMark, readRunner } from '../spool/read-attempt.ts';
import { writeJsonDurably } from '../spool/write-file.ts';
import { findLeftovers } from './find-leftovers.ts';
import { endOwnProcesses } from './tidy-attempt.ts';

export interface LostAttempt {
  readonly launcher: Pick<Launcher, 'runnerOf'>;
  readonly paths: SpoolPaths;
  readonly job: Job;
  readonly workFolder: string;
  readonly slotUid: number | null;
  readonly signal: AbortSignal;
}

const pollMilliseconds = 20;

/** @throws the signal's reason, and an Error that names processes that cannot be ended */
export async function recoverLostAttempt(lost: LostAttempt): Promise<void> {
  await awaitTools(lost);
  // Without a mark, no changing command was started. A power failure may have lost the record that the server
  // stored the mark.
  const found = readMark(lost.paths) !== null ? await findLeftovers(lost) : {};
  const outcome: Outcome = {
    result: 'internal',
    isLost: true,
    finishedAt: new Date().toISOString(),
    error: { message: 'the process that ran it was killed, or its machine was restarted' },
    ...found,
  };
  await writeJsonDurably(lost.paths.outcome, outcome);
}

/**
 * Recovers an attempt whose runner failed during a changing command: its outcome is kept, but its tool may
 * still be running.
 * @throws the signal's reason, and an Error that names processes that cannot be ended
 */
export async function recoverBrokenAttempt(broken: LostAttempt): Promise<void> {
  await awaitTools(broken);
  await findLeftovers(broken);
}

/** A tool that passes an interrupt on with the second one has got only the one of the kernel. */
async function interruptAgain(job: Job, left: () => number[], signal: AbortSignal): Promise<void> {
  const driver = driverOf(job.tool);
  const name = driver?.programs[0];
  if (driver?.interrupts !== 'twice' || name === undefined || left().length === 0) return;
  await delay(secondInterruptMilliseconds, undefined, { signal });
  for (const pid of left()) if (programNameOf(pid) === name) signalQuietly(pid, 'SIGINT');
}

/** Gives the tool the abort time to end on its own: a clean end keeps its state. */
async function awaitTools(lost: LostAttempt): Promise<void> {
  const { launcher, paths, job, workFolder, slotUid, signal } = lost;
  const folders = workFolderPaths(workFolder, job);
  const identity = readRunner(paths);
  const runner = identity && launcher.runnerOf(identity);
  const seeing = () => (isOwn(folders, job) ? processesIn(folders.root) : []);
  const left = () => [
    ...new Set([
      ...(runner?.rest() ?? []),
      ...(slotUid === null ? [...processesHolding(paths.steps), ...seeing()] : processesOf(slotUid)),
    ]),
  ];
  // The kernel has interrupted the shell of a task, but not the processes that it started.
  if (job.type === 'task') left().forEach((pid) => signalQuietly(pid, 'SIGINT'));
  await interruptAgain(job, left, signal);
  const deadline = performance.now() + job.limits.abortSeconds * 1000;
  while (left().length > 0 && performance.now() < deadline)
    await delay(pollMilliseconds, undefined, { signal });
  await runner?.endRest();
  if (slotUid !== null) return endProcessesOf(slotUid);
  for (const pid of left()) signalQuietly(pid, 'SIGKILL');
  await endOwnProcesses(folders, job);
}
