/**
 * Removes a run's folder without following links, even if the run has removed permissions in it. No process
 * of the run should be alive; one that is, and exchanges a folder for a link, has no effect: both ways
 * open each folder relative to the one above it, which `rm` of Node's promises does not.
 */
import { execFile } from 'node:child_process';
import { chmodSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from '../processes/programs.ts';

const everything = { recursive: true, force: true, maxRetries: 3 } as const;

/** @throws the file system's error if something in it belongs to another user */
export function forceRemoveSync(folder: string): void {
  try {
    rmSync(folder, everything);
  } catch (error) {
    restorePermissions(folder, error);
    rmSync(folder, everything);
  }
}

/** Like `forceRemoveSync`, without blocking where the machine has `rm`. */
export async function forceRemove(folder: string): Promise<void> {
  // Runners remove their own: most of the time there is nothing left.
  const isThere = lstatSync(folder, { throwIfNoEntry: false }) !== undefined;
  const program = isThere ? findProgram('rm') : null;
  if (program !== null)
    await new Promise<void>((resolve) =>
      execFile(program, ['-rf', '--', folder], { cwd: '/', env: {} }, () => resolve()),
    );
  // Whatever it could not remove.
  forceRemoveSync(folder);
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
