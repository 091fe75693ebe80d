/** Folders that other users cannot traverse. */
import { statSync } from 'node:fs';
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
