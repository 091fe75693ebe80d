/** Finds programs on the PATH without a shell. */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** A PATH of the folders where machines have their programs, whatever the PATH of this process is. */
export const usualPath = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'].join(
  ':',
);

/**
 * @param name a program name without a slash
 * @param path folders as in PATH; relative ones are ignored
 * @returns the absolute path of the first executable file with that name; null if there is none
 */
export function findOnPath(name: string, path: string = process.env.PATH ?? ''): string | null {
  const folders = path.split(delimiter).filter(isAbsolute);
  return folders.map((folder) => join(folder, name)).find(isExecutable) ?? null;
}

/** Whether a path is a file that this process may execute. */
export function isExecutable(path: string): boolean {
  try {
    // Most places have no such file: an error for each would take most of the time.
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
