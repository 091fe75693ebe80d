/** Recognizes failures caused by a full disk, and names the folders on that disk. */
import { statfsSync } from 'node:fs';

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

/** How to resolve a full disk; names the folders on it. */
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
