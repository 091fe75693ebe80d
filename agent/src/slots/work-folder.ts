/**
 * The folder in which the phases of a deployment work: always at one and the same path below the work folder.
 *
 *   <root>               the agent's; mode 0711 while a run uses it, else 0700: a slot's uid is used for other runs later
 *   <root>/tree          the repository        <root>/state   the state, where it is ours
 *   <root>/home, tmp     HOME and TMPDIR       <root>/plan    the saved plan
 *   <root>/gitconfig     git's own configuration, the agent's
 *   <root>/planned.json  which attempt left the tree for its apply, the agent's
 *
 * `tree`, `state`, `plan`, `home` and `tmp` belong to the slot's uid, mode 0700.
 */
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HeldAttempt, Job } from '#protocol/messages.ts';

/** Types that may run beside another deployment of the same environment. */
const parallelTypes: readonly Job['type'][] = ['prPlan', 'remotePlan', 'moduleTest'];

/** Who left a tree behind, and for whom. */
interface Planned {
  readonly jobId: string;
  readonly attempt: number;
  readonly slotUid: number | null;
}

/** Paths inside the folder of a deployment. */
export function workFolderPaths(workFolder: string, job: Pick<Job, 'type' | 'environmentId' | 'deploymentId'>) {
  const name = parallelTypes.includes(job.type) ? `${job.environmentId}-${job.deploymentId}` : job.environmentId;
  if (!/^[A-Za-z0-9-]{1,100}$/.test(name)) throw new Error(`the environment's id ${JSON.stringify(name)} cannot be the name of a folder`);
  const root = join(workFolder, name);
  return {
    root,
    tree: join(root, 'tree'),
    state: join(root, 'state'),
    plan: join(root, 'plan'),
    planFile: join(root, 'plan', 'tfplan'),
    home: join(root, 'home'),
    temporary: join(root, 'tmp'),
    gitConfig: join(root, 'gitconfig'),
    planned: join(root, 'planned.json'),
  } as const;
}
export type WorkFolderPaths = ReturnType<typeof workFolderPaths>;

/** Makes the folder anew, whatever an earlier run left. No process of the slot's uid may be alive. */
export function createWorkFolder(paths: WorkFolderPaths, slotUid: number | null): void {
  removeWorkFolder(paths);
  mkdirSync(paths.root, { recursive: true, mode: 0o711 });
  chmodSync(paths.root, 0o711);
  for (const folder of [paths.tree, paths.state, paths.plan, paths.home, paths.temporary]) makeOwned(folder, slotUid);
}

/** Opens a kept folder to its slot again, with empty folders for state, plan, home and temporary files. */
export function reopenWorkFolder(paths: WorkFolderPaths, slotUid: number | null): void {
  rmSync(paths.planned, { force: true });
  chmodSync(paths.root, 0o711);
  for (const folder of scratchFolders(paths)) makeOwned(folder, slotUid);
}

/** Closes the folder to the slot's uid and keeps the tree only; the next phase of this deployment finds it by the attempt. */
export function keepTree(paths: WorkFolderPaths, left: HeldAttempt, slotUid: number | null): void {
  chmodSync(paths.root, 0o700);
  for (const folder of scratchFolders(paths)) rmSync(folder, { recursive: true, force: true });
  writeFileSync(paths.planned, JSON.stringify({ jobId: left.jobId, attempt: left.attempt, slotUid } satisfies Planned), { mode: 0o600 });
}

/** Whether this very attempt's tree is still here and belongs to this slot's uid. */
export function isTreeKept(paths: WorkFolderPaths, by: HeldAttempt, slotUid: number | null): boolean {
  try {
    const planned = JSON.parse(readFileSync(paths.planned, 'utf8')) as Planned;
    return planned.jobId === by.jobId && planned.attempt === by.attempt && planned.slotUid === slotUid && existsSync(paths.tree);
  } catch {
    return false;
  }
}

/** Closes the folder to every slot without removing anything, for a person to look at. */
export function closeWorkFolder(paths: WorkFolderPaths): void {
  if (existsSync(paths.root)) chmodSync(paths.root, 0o700);
}

/** Removes the folder and all it holds, without following links. */
export function removeWorkFolder(paths: WorkFolderPaths): void {
  // Closed first: a process of a uid that owned parts of it can no longer reach them while they are removed.
  closeWorkFolder(paths);
  rmSync(paths.root, { recursive: true, force: true, maxRetries: 3 });
}

function scratchFolders(paths: WorkFolderPaths): string[] {
  return [paths.state, paths.plan, paths.home, paths.temporary];
}

function makeOwned(folder: string, slotUid: number | null): void {
  mkdirSync(folder, { mode: 0o700 });
  if (slotUid !== null) chownSync(folder, slotUid, slotUid);
}
