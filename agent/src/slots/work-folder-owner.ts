/**
 * Owner of a work folder. Agents of one machine can have the same ENVARIUM_WORK_DIR, and any of them gets the next
 * attempt of an environment, also while the run of one that the service no longer hears of has not ended.
 */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { Job } from '#protocol/messages/job.ts';
import { processesIn } from '../processes/end-processes.ts';
import { RunFailure } from '../processes/failure.ts';
import { identifyProcess, isAlive, type ProcessIdentity } from '../processes/proc.ts';
import { attemptFolderName, spoolPaths } from '../spool/layout.ts';
import { forceRemoveSync } from './remove-folder.ts';
import {
  closeWorkFolder,
  keepTree,
  keepWorkFolder,
  type TreeFacts,
  type WorkFolderPaths,
} from './work-folder.ts';

/** No two attempts have the same job and number, whichever agent has them. */
export type AttemptId = Pick<Job, 'jobId' | 'attempt'> & Pick<Partial<Job>, 'approved'>;

interface FolderOwner {
  readonly jobId: string;
  readonly attempt: number;
  /** Null: no process works in the folder any more. */
  readonly runner: ProcessIdentity | null;
  /** Absolute path of the attempt's spool folder. */
  readonly spool: string;
}

/** @returns null for a folder that does not exist, or has no owner */
function ownerOf({ owner }: WorkFolderPaths): FolderOwner | null {
  try {
    return JSON.parse(readFileSync(owner, 'utf8')) as FolderOwner;
  } catch {
    return null;
  }
}

/** It is never read partially, which would look like a folder without an owner. */
function write({ owner: file }: WorkFolderPaths, owner: FolderOwner): void {
  const next = `${file}.next`;
  writeFileSync(next, JSON.stringify(owner), { mode: 0o600 });
  renameSync(next, file);
}

/** @throws RunFailure if the folder is that of another attempt by now: nothing may be read or changed there */
export function requireOwn(paths: WorkFolderPaths, attempt: AttemptId): void {
  if (isOwn(paths, attempt)) return;
  throw new RunFailure(
    `another attempt has taken ${paths.root}: give each agent of this machine a folder of its own (setting ENVARIUM_WORK_DIR)`,
    { result: 'internal' },
  );
}

/** Whether a folder is not that of another attempt. The plan that an apply continues counts as the same one. */
export function isOwn(paths: WorkFolderPaths, attempt: AttemptId): boolean {
  const owner = ownerOf(paths);
  if (owner === null) return true;
  const own = [attempt, attempt.approved?.continues];
  return own.some((one) => one?.jobId === owner.jobId && one.attempt === owner.attempt);
}

/** Records that this process executes an attempt in the folder. @param spool absolute path of its spool folder */
export function takeWorkFolder(paths: WorkFolderPaths, { jobId, attempt }: AttemptId, spool: string): void {
  write(paths, { jobId, attempt, runner: identifyProcess(process.pid), spool });
}

/** Records that no process works for the attempt any more; on a full disk, its outcome says the same. */
export function releaseWorkFolder(paths: WorkFolderPaths): void {
  const owner = ownerOf(paths);
  if (owner === null) return;
  try {
    write(paths, { ...owner, runner: null });
  } catch {
    rmSync(`${paths.owner}.next`, { force: true });
  }
}

/** Place of an attempt's folder while it is being removed. */
export function asideOf({ root }: WorkFolderPaths, { jobId, attempt }: AttemptId): string {
  return `${root}.over-${attemptFolderName(jobId, attempt)}`;
}

/** Keeps the tree of a plan for its apply, unless the folder is that of another attempt by now. */
export function keepOwnWorkFolder(
  paths: WorkFolderPaths,
  job: AttemptId & Pick<Job, 'fence'>,
  slotUid: number | null,
  facts: TreeFacts,
): void {
  if (!isOwn(paths, job)) return;
  const { jobId, attempt, fence } = job;
  keepTree(paths, { jobId, attempt, fence }, slotUid, facts);
  releaseWorkFolder(paths);
}

/** Removes the folder, unless it is that of another attempt by now. */
export function removeOwnWorkFolder(paths: WorkFolderPaths, attempt: AttemptId): void {
  if (isOwn(paths, attempt)) removeAside(paths, attempt);
}

/**
 * Makes the place free for an attempt: removes what others have left there. A plan that still runs there is one that the
 * service has assigned to this attempt instead; it loses its folder and changes nothing. What a lost run has
 * left of its state is kept.
 * @throws RunFailure while a command of another attempt may change resources there
 */
export function clearWorkFolder(paths: WorkFolderPaths, attempt: AttemptId): void {
  const owner = isOwn(paths, attempt) ? null : ownerOf(paths);
  const isRunning = owner?.runner != null && owner.runner.pid !== process.pid && isAlive(owner.runner);
  if (owner !== null && isUnfinished(owner)) {
    if (hasStarted(owner) && (isRunning || processesIn(paths.root).length > 0))
      throw new RunFailure(
        `another agent of this machine still changes resources in ${paths.root}: deploy again once that run has ended, and give each agent a folder of its own (setting ENVARIUM_WORK_DIR)`,
        { result: 'internal' },
      );
    keepWorkFolder(paths, owner);
  }
  try {
    removeAside(paths, attempt);
  } catch (error) {
    // Remaining processes may continue to write; the agent removes the rest after the attempt.
    if (!isRunning || existsSync(paths.root)) throw error;
  }
}

/** Whether the service has agreed to the start: before that, no command changes anything, and it may agree to another attempt. */
function hasStarted({ spool }: FolderOwner): boolean {
  return existsSync(spoolPaths(spool).markStored);
}

/** Whether a command may have begun to change resources whose end is not recorded yet. */
function isUnfinished({ spool }: FolderOwner): boolean {
  const { mark, outcome } = spoolPaths(spool);
  return existsSync(mark) && !existsSync(outcome);
}

/** From the move on, another agent may use the place: nothing happens between look and move. */
function removeAside(paths: WorkFolderPaths, attempt: AttemptId): void {
  if (!existsSync(paths.root)) return;
  const aside = asideOf(paths, attempt);
  forceRemoveSync(aside);
  // Closed first, so that a process with the uid of an owner cannot reach parts of it during the removal.
  closeWorkFolder(paths);
  renameSync(paths.root, aside);
  forceRemoveSync(aside);
}
