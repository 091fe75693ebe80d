/**
 * The spool folder as a whole: used by one agent at a time, with its own identity, and the attempts in it.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { chmod, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type FolderLock, FolderLockedError, lockFolder } from '#guards/folder-lock.ts';
import { makeFolders } from '#guards/make-folders.ts';
import type { Job } from '#protocol/messages/job.ts';
import { SettingsError } from '#settings/declaration.ts';
import { attemptFolderName, type SpoolPaths, spoolPaths } from './layout.ts';
import { readJob } from './read-attempt.ts';
import { removeFolder, writeDurably } from './write-file.ts';

export interface Spool extends AsyncDisposable {
  readonly folder: string;
  /** Identifies this spool forever. */
  readonly id: string;
  readonly attemptsFolder: string;
  readonly runnerLog: string;
  readonly compileCacheFolder: string;
}

const retryMilliseconds = 50;

/**
 * @param folder created if necessary, mode 0700
 * @param waitMilliseconds how long to wait for a predecessor that is shutting down
 * @throws SettingsError if it cannot be created, FolderLockedError that names the holder
 */
export async function openSpool(folder: string, waitMilliseconds: number): Promise<Spool> {
  const attemptsFolder = join(folder, 'attempts');
  makeSpoolFolder(attemptsFolder);
  await chmod(folder, 0o700);
  const lock = await lockWithin(folder, waitMilliseconds);
  return {
    folder,
    id: await spoolId(join(folder, 'spool-id')),
    attemptsFolder,
    runnerLog: join(folder, 'runners.log'),
    compileCacheFolder: join(folder, 'compile-cache'),
    [Symbol.asyncDispose]: () => lock[Symbol.asyncDispose](),
  };
}

function makeSpoolFolder(folder: string): void {
  try {
    makeFolders(folder, 0o700);
  } catch (error) {
    throw new SettingsError([
      `ENVARIUM_SPOOL_DIR: the spool folder cannot be created: ${(error as Error).message}.`,
    ]);
  }
}

async function lockWithin(folder: string, waitMilliseconds: number): Promise<FolderLock> {
  const deadline = performance.now() + waitMilliseconds;
  for (;;) {
    try {
      return await lockFolder(folder);
    } catch (error) {
      if (!(error instanceof FolderLockedError) || performance.now() >= deadline) throw error;
      await delay(retryMilliseconds);
    }
  }
}

async function spoolId(file: string): Promise<string> {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const id = randomUUID();
  await writeDurably(file, `${id}\n`);
  return id;
}

export interface FoundAttempt {
  readonly paths: SpoolPaths;
  readonly job: Job;
}

/** The attempts that an earlier agent left; unfinished ones were never started and are removed. */
export async function findAttempts(spool: Spool): Promise<FoundAttempt[]> {
  const found: FoundAttempt[] = [];
  for (const name of await readdir(spool.attemptsFolder)) {
    const paths = spoolPaths(join(spool.attemptsFolder, name));
    const job = name.startsWith('.') ? null : readJob(paths);
    if (job && name === attemptFolderName(job.jobId, job.attempt)) found.push({ paths, job });
    else await removeFolder(paths.folder);
  }
  return found;
}
