/** Folders that are closed to other users: which ones they cannot traverse, and whether a plan is sealed. */
import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** The permission of others to traverse a folder. */
export const mayPass = 0o001;

/** The innermost folder of `path` that other users cannot traverse; null if they can reach it. */
export function closedFolder(path: string): string | null {
  for (let folder = path; ; folder = dirname(folder)) {
    if ((statSync(folder).mode & mayPass) === 0) return folder;
    if (folder === dirname(folder)) return null;
  }
}

/** Whether the folder of the plan holds a plan that the run cannot change. */
export function isPlanSealed(paths: { readonly openPlan: string }): boolean {
  return existsSync(paths.openPlan);
}
