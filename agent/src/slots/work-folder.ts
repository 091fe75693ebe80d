/**
 * The folder in which the phases of a deployment run: always at the same path below the work folder.
 *
 *   <root>               the agent's; mode 0711 while a run uses it, else 0700: slots' uids are used again
 *   <root>/tree          the repository        <root>/state   the state, if the service stores it
 *   <root>/home, tmp     HOME and TMPDIR       <root>/plan    the saved plan
 *   <root>/plan.open     where the run wrote plans, while `plan` holds one that it cannot change
 *   <root>/gitconfig     git's own configuration, the agent's
 *   <root>/programs      the tool under its name, for the PATH of a task, the agent's
 *   <root>/ssh-gate      program and socket for commands that reach modules or LFS over ssh, the agent's
 *   <root>/credentials   files of cloud credentials while a phase lasts, the agent's
 *   <root>/planned.json  which attempt kept the tree for its apply, the agent's
 *   <root>/owner.json    whose folder it is, the agent's (`work-folder-owner.ts`)
 *   <root>.planned-<spool>-<job>-<attempt>  the tree of a plan that waits for a decision, set aside without the files
 *                        that contain variables
 *   <root>.over-<job>-<attempt>  what an attempt left, while it is being removed
 *   <root>.kept-<job>-<attempt>  evidence of a failed run, for a person; the oldest are removed
 *
 * `tree`, `state`, `plan`, `home` and `tmp` belong to the slot's uid, mode 0700.
 */
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fchownSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { gitConfiguration } from '#guards/git/git-environment.ts';
import type { HeldAttempt } from '#protocol/messages/attempt.ts';
import type { Job } from '#protocol/messages/job.ts';
import { treeFolder, workFolderName } from '#protocol/work-folder-name.ts';
import { accountsWith } from '../processes/accounts.ts';
import { forceRemoveSync } from './remove-folder.ts';

/** The plan phase's findings about the tree that it keeps, so that its apply need not check again. */
export interface TreeFacts {
  readonly isStateOurs: boolean;
  readonly toolVersion: string;
  /** Files that contain variables, relative to the tree. */
  readonly secretFiles: readonly string[];
  /** Findings of the driver in the code, by name, as Base64; absent if there are none. */
  readonly inspected?: Readonly<Record<string, string>>;
}

/** Attempt that kept the tree, and its slot. */
interface PlannedTree extends TreeFacts {
  readonly jobId: string;
  readonly attempt: number;
  readonly slotUid: number | null;
}

/** Paths inside the folder of a deployment. */
export function workFolderPaths(
  workFolder: string,
  job: Pick<Job, 'type' | 'environmentId' | 'deploymentId'>,
) {
  const name = workFolderName(job);
  if (!/^[A-Za-z0-9-]{1,100}$/.test(name))
    throw new Error(`the environment's id ${JSON.stringify(name)} cannot be used as a folder name`);
  const root = join(workFolder, name);
  return {
    root,
    tree: join(root, treeFolder),
    state: join(root, 'state'),
    plan: join(root, 'plan'),
    planFile: join(root, 'plan', 'tfplan'),
    openPlan: join(root, 'plan.open'),
    home: join(root, 'home'),
    temporary: join(root, 'tmp'),
    gitConfig: join(root, 'gitconfig'),
    accounts: join(root, 'passwd'),
    planned: join(root, 'planned.json'),
    owner: join(root, 'owner.json'),
    programs: join(root, 'programs'),
    credentials: join(root, 'credentials'),
  } as const;
}
export type WorkFolderPaths = ReturnType<typeof workFolderPaths>;

/** Makes the folder, which does not exist. No process of the slot's uid may be alive. @throws the file system's error */
export function createWorkFolder(paths: WorkFolderPaths, slotUid: number | null): void {
  mkdirSync(dirname(paths.root), { recursive: true, mode: 0o711 });
  mkdirSync(paths.root, { mode: 0o711 });
  chmodSync(paths.root, 0o711);
  writeFileSync(paths.gitConfig, gitConfiguration);
  // Readable by the slot whatever the agent's umask is.
  chmodSync(paths.gitConfig, 0o644);
  // In a container, the agent's own user may have none.
  const uid = slotUid ?? process.getuid?.();
  const accounts = uid === undefined ? null : accountsWith(uid, paths.home);
  if (accounts !== null) {
    writeFileSync(paths.accounts, accounts);
    chmodSync(paths.accounts, 0o644);
  }
  for (const folder of [paths.tree, paths.state, paths.plan, paths.home, paths.temporary])
    makeOwned(folder, slotUid);
}

/** Makes a kept folder accessible to its slot again, with empty folders for state, plan, home and tmp. */
export function reopenWorkFolder(paths: WorkFolderPaths, slotUid: number | null): void {
  rmSync(paths.planned, { force: true });
  chmodSync(paths.root, 0o711);
  for (const folder of [paths.state, paths.plan, paths.home, paths.temporary]) makeOwned(folder, slotUid);
}

/**
 * Puts a file into one of the new folders, for the slot to use.
 * Call it before any process of the run has started: no link can have been planted there yet.
 * @param name relative to the folder; folders above it are created
 * @throws the file system's error if something is in its place
 */
export function placeFile(folder: string, name: string, content: Uint8Array, slotUid: number | null): void {
  if (name.startsWith('/') || name.split('/').includes('..'))
    throw new Error(`the file name ${JSON.stringify(name)} leaves its folder`);
  const segments = dirname(name)
    .split('/')
    .filter((segment) => segment !== '.');
  for (const [index] of segments.entries()) makeOwned(join(folder, ...segments.slice(0, index + 1)), slotUid);
  writeOwned(join(folder, name), content, slotUid);
}

/**
 * Writes a file of mode 0600 that does not exist, to a folder in which no other user can change a path.
 * @param uid of its owner; null: this process
 * @throws the file system's error if something is in its place
 */
export function writeOwned(path: string, content: Uint8Array, uid: number | null): void {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const descriptor = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    writeFileSync(descriptor, content);
    if (uid !== null) fchownSync(descriptor, uid, uid);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Puts a saved plan in the place of the folder that the run wrote its plan to: from now on the run can read
 * it there and change neither the file nor the folder.
 * @param name of the file in the folder
 * @param from absolute path of a file that only the agent can change
 * @param slotUid the run's user, whose group is the only one that can read it
 */
export function sealPlan(paths: WorkFolderPaths, name: string, from: string, slotUid: number | null): void {
  replacePlan(paths);
  const file = join(paths.plan, name);
  copyFileSync(from, file, constants.COPYFILE_EXCL);
  seal(file, 0o440, slotUid);
  seal(paths.plan, 0o550, slotUid);
}

/**
 * The same for a plan that is a folder.
 * @param name of the folder in the folder of the plan
 * @param files by their paths below it, each without `..`
 */
export function sealPlanFolder(
  paths: WorkFolderPaths,
  name: string,
  files: ReadonlyMap<string, Uint8Array>,
  slotUid: number | null,
): void {
  replacePlan(paths);
  const folders = new Set([join(paths.plan, name)]);
  mkdirSync(join(paths.plan, name), { mode: 0o700 });
  for (const [path, content] of files) {
    const file = join(paths.plan, name, path);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, content, { flag: 'wx', mode: 0o600 });
    seal(file, 0o440, slotUid);
    for (let folder = dirname(file); !folders.has(folder); folder = dirname(folder)) folders.add(folder);
  }
  for (const folder of [...folders, paths.plan]) seal(folder, 0o550, slotUid);
}

/** Whether the folder of the plan holds a plan that the run cannot change. */
export function isPlanSealed({ openPlan }: Pick<WorkFolderPaths, 'openPlan'>): boolean {
  return existsSync(openPlan);
}

/** Puts an empty folder of the agent in the place of the run's. */
function replacePlan(paths: WorkFolderPaths): void {
  if (isPlanSealed(paths)) removeSealed(paths);
  else renameSync(paths.plan, paths.openPlan);
  mkdirSync(paths.plan, { mode: 0o700 });
}

function seal(path: string, mode: number, slotUid: number | null): void {
  if (slotUid !== null) chownSync(path, 0, slotUid);
  chmodSync(path, mode);
}

/** Gives the run its folder for plans back. */
export function openPlan(paths: WorkFolderPaths): void {
  if (!isPlanSealed(paths)) return;
  removeSealed(paths);
  renameSync(paths.openPlan, paths.plan);
}

function removeSealed(paths: WorkFolderPaths): void {
  chmodSync(paths.plan, 0o700);
  forceRemoveSync(paths.plan);
}

/**
 * Closes the folder to the slot's uid and keeps the tree, including variable files, for its apply. If none
 * follows, the caller removes the folder.
 */
export function keepTree(
  paths: WorkFolderPaths,
  left: HeldAttempt,
  slotUid: number | null,
  facts: TreeFacts,
): void {
  chmodSync(paths.root, 0o700);
  for (const folder of scratchFolders(paths)) forceRemoveSync(folder);
  writeFileSync(
    paths.planned,
    JSON.stringify({ jobId: left.jobId, attempt: left.attempt, slotUid, ...facts } satisfies PlannedTree),
    {
      mode: 0o600,
    },
  );
}

/** Whether the tree that this attempt kept for this slot's uid still exists. */
export function isTreeKept(paths: WorkFolderPaths, by: HeldAttempt, slotUid: number | null): boolean {
  return readKept(paths, by, slotUid) !== null;
}

/** The record of the tree that this attempt kept for this slot's uid; null if it no longer exists. */
export function readKept(paths: WorkFolderPaths, by: HeldAttempt, slotUid: number | null): TreeFacts | null {
  const planned = readPlanned(paths, by);
  return planned?.slotUid === slotUid ? planned : null;
}

/** The record of the tree that this attempt kept, with the uid of its owner; null if it no longer exists. */
export function readPlanned(
  paths: WorkFolderPaths,
  by: Pick<HeldAttempt, 'jobId' | 'attempt'>,
): PlannedTree | null {
  try {
    const planned = JSON.parse(readFileSync(paths.planned, 'utf8')) as PlannedTree;
    const isSame = planned.jobId === by.jobId && planned.attempt === by.attempt && existsSync(paths.tree);
    return isSame ? planned : null;
  } catch {
    return null;
  }
}

/** Place where a run's folder is kept for inspection: the next run of the environment needs its path. */
export function keptFolder(
  paths: WorkFolderPaths,
  { jobId, attempt }: Pick<HeldAttempt, 'jobId' | 'attempt'>,
): string {
  return `${paths.root}.kept-${jobId}-${attempt}`;
}

/** Keeps a folder in another place from now on. */
export function keepAside(folder: string, target: string): void {
  renameSync(folder, target);
  const now = new Date();
  utimesSync(target, now, now);
}

/** Moves the folder aside unchanged, closed to every slot; one that was moved earlier is not overwritten. */
export function keepWorkFolder(
  paths: WorkFolderPaths,
  attempt: Pick<HeldAttempt, 'jobId' | 'attempt'>,
): void {
  const kept = keptFolder(paths, attempt);
  if (!existsSync(paths.root) || existsSync(kept)) return;
  closeWorkFolder(paths);
  keepAside(paths.root, kept);
}

/** Closes the folder to every slot, and removes nothing but credentials. */
export function closeWorkFolder(paths: WorkFolderPaths): void {
  if (!existsSync(paths.root)) return;
  chmodSync(paths.root, 0o700);
  forceRemoveSync(paths.credentials);
}

function scratchFolders(paths: WorkFolderPaths): string[] {
  return [paths.state, paths.plan, paths.openPlan, paths.home, paths.temporary, paths.credentials];
}

function makeOwned(folder: string, slotUid: number | null): void {
  mkdirSync(folder, { mode: 0o700 });
  if (slotUid !== null) chownSync(folder, slotUid, slotUid);
}
