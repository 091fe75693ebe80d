/**
 * Removes a folder of a run without following links, whatever permissions the run removed from its own user.
 * No process of the run may be alive.
 */
import { chmodSync, readdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

const everything = { recursive: true, force: true, maxRetries: 3 } as const;

/** @throws the file system's error if something in it belongs to somebody else */
export function removeWholeSync(folder: string): void {
  try {
    rmSync(folder, everything);
  } catch (error) {
    giveBackRights(folder, error);
    rmSync(folder, everything);
  }
}

/** The same, alongside other work. */
export async function removeWhole(folder: string): Promise<void> {
  try {
    await rm(folder, everything);
  } catch (error) {
    giveBackRights(folder, error);
    await rm(folder, everything);
  }
}

// Only root removes from a folder that its owner may not enter.
function giveBackRights(folder: string, error: unknown): void {
  if (!['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  openFolders(folder);
}

function openFolders(folder: string): void {
  chmodSync(folder, 0o700);
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) openFolders(join(folder, entry.name));
}
