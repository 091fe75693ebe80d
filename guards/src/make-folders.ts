/** Creates folders that settings name. */
import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a folder and its missing parents, one after the other: Node's own recursion never ends below a file
 * system like /proc, which reports a folder as missing that it does not allow to be created.
 * @param mode of each created folder
 * @returns whether the folder was created
 * @throws Error if it cannot be created, or if something on the path is not a folder
 */
export function makeFolders(folder: string, mode: number): boolean {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found?.isDirectory()) return false;
  if (found) throw new Error(`${folder} is not a folder`);
  const parent = dirname(folder);
  if (parent !== folder) makeFolders(parent, mode);
  try {
    mkdirSync(folder, { mode });
    return true;
  } catch (error) {
    // Another process may have been faster; a link to nowhere exists, too.
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return false;
    throw error;
  }
}
