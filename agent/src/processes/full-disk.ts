/** Recognizes failures caused by a full disk, and names the folders on that disk. */
import { statfsSync } from 'node:fs';
import pRetry from 'p-retry';

export interface NamedFolder {
  /** For example `spool folder`. */
  readonly what: string;
  /** An absolute path. */
  readonly path: string;
}

const megabyte = 1024 ** 2;
/** With less free space, writing the next file of a run may fail. */
const scarceMegabytes = 64;
const codes: readonly unknown[] = ['ENOSPC', 'EDQUOT'];

/** Whether an error, its cause or a tool's message reports a full disk. */
export function isFullDisk(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  return (
    codes.includes(code) ||
    /no space left on device|disk quota exceeded/i.test(error.message) ||
    isFullDisk(error.cause)
  );
}

/** One per second. */
const maxTries = 3_600;

/**
 * Repeats work that a full disk prevents until there is space again, for an hour at most. For what a run must not
 * lose at its end.
 * @throws what the work throws for another reason
 */
export async function whenThereIsSpace<Value>(work: () => Value | Promise<Value>): Promise<Value> {
  return pRetry(work, {
    retries: maxTries,
    minTimeout: 1_000,
    factor: 1,
    shouldRetry: ({ error }) => isFullDisk(error),
  });
}

/** Remedy for a full disk; names the folders on it. */
export function adviceForFullDisk(folders: readonly NamedFolder[]): string {
  const measured = folders.map((folder) => ({ ...folder, free: freeMegabytes(folder.path) }));
  const scarce = measured.filter(({ free }) => free !== null && free < scarceMegabytes);
  const named = (scarce.length > 0 ? scarce : measured).map(
    ({ what, path, free }) => `the ${what} ${path}${free === null ? '' : ` has ${free} MB left`}`,
  );
  return `The disk of the agent's machine is full: ${named.join(', ')}. Free some space, then deploy again.`;
}

/** Space that is left on the disk of a folder; null where that cannot be found out. */
export function freeMegabytes(path: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(path);
    return Math.floor((bavail * bsize) / megabyte);
  } catch {
    return null;
  }
}
