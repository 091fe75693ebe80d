/** Files of a tree that no process of a run can change any more: its run has ended, and its folder is closed. */
import { constants, realpathSync, rmSync } from 'node:fs';
import { type FileHandle, open, readdir, realpath } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { nullIfMissing } from '../spool/read-attempt.ts';
import { writeOwned } from './work-folder.ts';

/**
 * Reads a file, but not through links out of the folder: the caller may read more than the run.
 * @returns null if there is no such file, and if it is larger than the limit
 */
export async function readInside(folder: string, file: string, limitBytes: number): Promise<Buffer | null> {
  await using handle = await openInside(folder, file);
  return handle && (await handle.stat()).size <= limitBytes ? handle.readFile() : null;
}

/**
 * Unusual objects that a run can put in the place of a file: circular links, sockets, files that only root can
 * open.
 */
const notFiles = new Set([
  'ENOENT',
  'ENOTDIR',
  'ELOOP',
  'ENAMETOOLONG',
  'EACCES',
  'EPERM',
  'ENXIO',
  'ENODEV',
]);

function nullIfNoFile(error: NodeJS.ErrnoException): null {
  if (notFiles.has(error.code ?? '')) return null;
  throw error;
}

/**
 * Opens a file for reading, but not through links out of the folder.
 * @returns null if there is no such file, or something else
 */
export async function openInside(folder: string, file: string): Promise<FileHandle | null> {
  const [realFolder, realFile] = [
    await realpath(folder).catch(nullIfMissing),
    await realpath(file).catch(nullIfNoFile),
  ];
  if (!realFolder || !realFile?.startsWith(realFolder + sep)) return null;
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(realFile, flags).catch(nullIfNoFile);
  if (handle === null) return null;
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  return null;
}

/**
 * The names of the files and folders in a folder, without links: none leads out of it, or round in it.
 * @returns none if it is something else, or leads out of the folder
 */
export async function listInside(folder: string, below: string): Promise<string[]> {
  const path = join(folder, below);
  const [root, found] = [
    await realpath(folder).catch(nullIfMissing),
    await realpath(path).catch(nullIfNoFile),
  ];
  if (root === null || found === null || (found !== root && !found.startsWith(root + sep))) return [];
  const entries = (await readdir(found, { withFileTypes: true }).catch(nullIfNoFile)) ?? [];
  return entries.filter((entry) => entry.isFile() || entry.isDirectory()).map(({ name }) => name);
}

/** Removes a file or a link. @throws an Error if it is in a folder outside */
export function removeInside(folder: string, name: string): void {
  rmSync(placeInside(folder, name), { force: true });
}

/**
 * Writes a file of mode 0600 that does not exist.
 * @param uid of its owner; null: this process
 * @throws an Error if it is in a folder outside; the file system's if something is in its place
 */
export function writeInside(folder: string, name: string, content: Uint8Array, uid: number | null): void {
  writeOwned(placeInside(folder, name), content, uid);
}

/** The real path of the folder that a file is in, with its name. */
function placeInside(folder: string, name: string): string {
  const [root, parent] = [realpathSync(folder), realpathSync(dirname(join(folder, name)))];
  if (parent !== root && !parent.startsWith(root + sep))
    throw new Error(`${JSON.stringify(name)} leads out of ${folder}`);
  return join(parent, basename(name));
}
