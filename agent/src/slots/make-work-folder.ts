/** Where an agent's work folder lies: runs get there under other users than the agent's. */
import { createHash } from 'node:crypto';
import { chmodSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolders } from '#guards/make-folders.ts';
import { SettingsError } from '#settings/declaration.ts';

const systemFolder = '/var/lib/envarium';
const mayPass = 0o001;

/**
 * Makes the work folder, mode 0711.
 * @param wanted as the setting says; undefined: below the spool folder, or, where other users cannot get
 * there, below /var/lib/envarium
 * @param spoolFolder absolute path
 * @returns its path without links
 * @throws an Error that names the setting when a slot's user cannot get there
 */
export function makeWorkFolder(wanted: string | undefined, spoolFolder: string): string {
  const isRoot = process.getuid?.() === 0;
  if (isRoot) makePassable(systemFolder);
  const folder =
    wanted ?? (isRoot ? join(systemFolder, nameOf(spoolFolder), 'work') : join(spoolFolder, 'work'));
  makeFolderOf(folder);
  const path = realpathSync(folder);
  chmodSync(path, isRoot ? 0o711 : 0o700);
  const closed = isRoot ? closedFolder(path) : null;
  if (closed !== null)
    throw new Error(
      `ENVARIUM_WORK_DIR: ${path} cannot be reached by the users of runs, because ${closed} is closed to them: choose a folder elsewhere, below /var/lib for example.`,
    );
  return path;
}

function makeFolderOf(folder: string): void {
  try {
    makeFolders(folder, 0o711);
  } catch (error) {
    throw new SettingsError([
      `ENVARIUM_WORK_DIR: the work folder cannot be created: ${(error as Error).message}.`,
    ]);
  }
}

/** It holds what several agents need, for slots' users too; what is private in it has modes of its own. */
function makePassable(folder: string): void {
  makeFolders(folder, 0o711);
  if ((statSync(folder).mode & mayPass) === 0) chmodSync(folder, 0o711);
}

/** The same for the same spool, told apart from other agents of the machine. */
function nameOf(spoolFolder: string): string {
  return createHash('sha256').update(realpathSync(spoolFolder)).digest('hex').slice(0, 12);
}

/** The innermost folder on the way to `path` that other users cannot pass, null where they get there. */
export function closedFolder(path: string): string | null {
  for (let folder = path; ; folder = dirname(folder)) {
    if ((statSync(folder).mode & mayPass) === 0) return folder;
    if (folder === dirname(folder)) return null;
  }
}
