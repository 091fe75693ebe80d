/** Where an agent's work folder is: runs use it under other users than the agent's. */
import { createHash } from 'node:crypto';
import { chmodSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolders } from '#guards/make-folders.ts';
import { SettingsError } from '#settings/declaration.ts';

const systemFolder = '/var/lib/envarium';
const mayPass = 0o001;

/**
 * Creates the work folder, mode 0711.
 * @param wanted the setting's value; undefined: below the spool folder, or, if other users cannot get there,
 * below /var/lib/envarium
 * @param spoolFolder absolute path
 * @returns its path without links
 * @throws an Error that names the setting if a slot's user cannot get there
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

/** It contains what several agents and the users of slots need; private parts have their own modes. */
function makePassable(folder: string): void {
  makeFolders(folder, 0o711);
  if ((statSync(folder).mode & mayPass) === 0) chmodSync(folder, 0o711);
}

/** The same for the same spool, distinct from those of other agents on the machine. */
function nameOf(spoolFolder: string): string {
  return createHash('sha256').update(realpathSync(spoolFolder)).digest('hex').slice(0, 12);
}

/** The innermost folder on the way to `path` that other users cannot traverse, null if they can reach it. */
export function closedFolder(path: string): string | null {
  for (let folder = path; ; folder = dirname(folder)) {
    if ((statSync(folder).mode & mayPass) === 0) return folder;
    if (folder === dirname(folder)) return null;
  }
}
