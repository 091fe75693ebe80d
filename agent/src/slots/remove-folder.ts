/**
 * Removes a run's folder without following links, even if the run has removed permissions in it. No process
 * of the run may be alive.
 */
import { chmodSync, readdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

const everything = { recursive: true, force: true, maxRetries: 3 } as const;

/** @throws the file system's error if something in it belongs to somebody else */
export function forceRemoveSync(folder: string): void {
  try {
    rmSync(folder, everything);
  } catch (error) {
    restorePermissions(folder, error);
    rmSync(folder, everything);
  }
}

/** Like `forceRemoveSync`, without blocking. */
export async function forceRemove(folder: string): Promise<void> {
  try {
    await rm(folder, everything);
  } catch (error) {
    restorePermissions(folder, error);
    await rm(folder, everything);
  }
}

// Only root can remove from a folder that its owner may not enter.
function restorePermissions(folder: string, error: unknown): void {
  if (!['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  openFolders(folder);
}

function openFolders(folder: string): void {
  chmodSync(folder, 0o700);
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) openFolders(join(folder, entry.name));
}
