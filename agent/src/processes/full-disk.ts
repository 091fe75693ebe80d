/** Whether a failure comes from a full disk, and which folder is on that disk. */
import { statfsSync } from 'node:fs';

export interface NamedFolder {
  /** Such as `spool folder`. */
  readonly what: string;
  /** Absolute. */
  readonly path: string;
}

const megabyte = 1024 ** 2;
/** With less, writing the next file of a run may fail. */
const scarceMegabytes = 64;
const codes: readonly unknown[] = ['ENOSPC', 'EDQUOT'];

/** Whether an error, or what a tool reports, says that a disk is full. */
export function isFullDisk(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  return (
    codes.includes(code) ||
    /no space left on device|disk quota exceeded/i.test(error.message) ||
    isFullDisk(error.cause)
  );
}

/** What a person should do about a full disk: the sentence names the folders that are on it. */
export function adviceForFullDisk(folders: readonly NamedFolder[]): string {
  const measured = folders.map((folder) => ({ ...folder, free: freeMegabytes(folder.path) }));
  const scarce = measured.filter(({ free }) => free !== null && free < scarceMegabytes);
  const named = (scarce.length > 0 ? scarce : measured).map(
    ({ what, path, free }) => `the ${what} ${path}${free === null ? '' : ` has ${free} MB left`}`,
  );
  return `The disk of the agent's machine is full: ${named.join(', ')}. Free some space, then deploy again.`;
}

function freeMegabytes(path: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(path);
    return Math.floor((bavail * bsize) / megabyte);
  } catch {
    return null;
  }
}
