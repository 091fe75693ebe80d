/** Creates an agent's work folder, which runs use under users other than the agent's. */
import { createHash } from 'node:crypto';
import { chmodSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolders } from '#guards/make-folders.ts';
import { SettingsError } from '#settings/declaration.ts';
import { closedFolder, mayPass } from '../processes/closed-folder.ts';

const systemFolder = '/var/lib/envarium';

/**
 * Creates the work folder, mode 0711.
 * @param setting the setting's value; default: below /var/lib/envarium for root, else below the spool folder
 * @param spoolFolder absolute path
 * @returns its path without links
 * @throws an Error that names the setting if a slot's user cannot reach it
 */
export function makeWorkFolder(setting: string | undefined, spoolFolder: string): string {
  const isRoot = process.getuid?.() === 0;
  if (isRoot) makePassable(systemFolder);
  const folder =
    setting ?? (isRoot ? join(systemFolder, nameOf(spoolFolder), 'work') : join(spoolFolder, 'work'));
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

/** The folder is shared by several agents and the users of slots; private parts have their own modes. */
function makePassable(folder: string): void {
  makeFolders(folder, 0o711);
  if ((statSync(folder).mode & mayPass) === 0) chmodSync(folder, 0o711);
}

/** A stable name, distinct from those of other agents on the machine. */
function nameOf(spoolFolder: string): string {
  return createHash('sha256').update(realpathSync(spoolFolder)).digest('hex').slice(0, 12);
}
