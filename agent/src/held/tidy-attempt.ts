/** Removes everything that an attempt left: processes, trees and secrets. */
import { existsSync, renameSync, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Job } from '#protocol/messages/job.ts';
import type { Launcher } from '../launchers/launcher.ts';
import { endProcessesIn, endProcessesOf } from '../processes/end-processes.ts';
import { setAsideSpool } from '../slots/kept-failures.ts';
import { forceRemove } from '../slots/remove-folder.ts';
import {
  closeWorkFolder,
  keepWorkFolder,
  type WorkFolderPaths,
  workFolderPaths,
} from '../slots/work-folder.ts';
import { asideOf, isOwn } from '../slots/work-folder-owner.ts';
import type { SpoolPaths } from '../spool/layout.ts';
import { isMarkStored, readOutcome, readRunner } from '../spool/read-attempt.ts';
import { removeFolder } from '../spool/write-file.ts';

const runnerEndMilliseconds = 5_000;
const pollMilliseconds = 5;

type Finder = Pick<Launcher, 'runnerOf'>;

/**
 * Waits until a runner does nothing more for an attempt, and ends what is left in its group. The outcome is the
 * last that it writes; it may then execute another order.
 */
export async function awaitRunnerEnd(launcher: Finder, paths: SpoolPaths): Promise<void> {
  const identity = readRunner(paths);
  if (identity === null) return;
  const runner = launcher.runnerOf(identity);
  const deadline = performance.now() + runnerEndMilliseconds;
  const hasEnded = () => runner.hasEnded() || (runner.mayContinue && readOutcome(paths) !== null);
  while (!hasEnded()) {
    if (performance.now() > deadline) runner.signal('SIGKILL');
    await delay(pollMilliseconds);
  }
  await runner.endRest();
}

/** Waits for the runner, then ends every process of the run, known by its uid or by the folders that it sees. */
export async function endEverything(
  launcher: Finder,
  paths: SpoolPaths,
  { job, workFolder, slotUid }: { job: Job; workFolder: string; slotUid: number | null },
): Promise<void> {
  await awaitRunnerEnd(launcher, paths);
  if (slotUid !== null) await endProcessesOf(slotUid);
  else await endOwnProcesses(workFolderPaths(workFolder, job), job);
}

/** Ends the processes that see the folder, unless it is that of another attempt by now. */
export async function endOwnProcesses(folders: WorkFolderPaths, job: Job): Promise<void> {
  if (isOwn(folders, job)) await endProcessesIn(folders.root);
}

/**
 * Removes the attempt's work folder, then its spool folder: while the latter exists, the next agent process
 * cleans up again. The work folder of a failed run is kept for inspection if its state may be incomplete, and the
 * spool folder if the server did not take the outcome.
 */
export async function removeAttempt(
  paths: SpoolPaths,
  job: Job,
  workFolder: string,
  { slotUid, isGivenUp }: { readonly slotUid: number | null; readonly isGivenUp: boolean },
): Promise<void> {
  const folders = workFolderPaths(workFolder, job);
  const outcome = readOutcome(paths);
  const isKept = outcome?.result === 'internal' && outcome.isLost !== true && isMarkStored(paths);
  const aside = asideOf(folders, job);
  // An earlier process may have been killed in the middle.
  await forceRemove(aside);
  // Another agent of this machine may use the place from any moment on, so nothing happens between look and move.
  if (isOwn(folders, job) && belongsTo(folders.tree, slotUid) && existsSync(folders.root)) {
    if (isKept) keepWorkFolder(folders, job);
    else {
      closeWorkFolder(folders);
      renameSync(folders.root, aside);
    }
  }
  await forceRemove(aside);
  if (isGivenUp) setAsideSpool(paths);
  else await removeFolder(paths.folder);
}

/** Of a folder without an owner: not to another agent of this machine, whose runs have other uids. */
function belongsTo(tree: string, slotUid: number | null): boolean {
  const found = statSync(tree, { throwIfNoEntry: false });
  return slotUid === null || found === undefined || found.uid === slotUid;
}
