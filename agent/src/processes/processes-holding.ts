/** Finds the processes of a run without its own uid: they have its log files open. */
import { readFileSync, readlinkSync } from 'node:fs';
import { sep } from 'node:path';
import { namesIn, pidsWhere } from './proc.ts';

/**
 * @param folder absolute path
 * @returns the pids of other processes with open files below the folder
 */
export function processesHolding(folder: string): number[] {
  return pidsWhere((pid) => pid !== process.pid && openBelow(folder, pid).length > 0);
}

/** Like `processesHolding`, but only processes that can write to the open file. */
export function processesWriting(folder: string): number[] {
  return pidsWhere(
    (pid) => pid !== process.pid && openBelow(folder, pid).some((name) => canWrite(pid, name)),
  );
}

/** The descriptors of a process for files below a folder. */
function openBelow(folder: string, pid: number): string[] {
  return namesIn(`/proc/${pid}/fd`).filter((name) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${name}`).startsWith(folder + sep);
    } catch {
      // It was already closed.
      return false;
    }
  });
}

// The access mode is in the two lowest bits of the flags, which are octal.
function canWrite(pid: number, descriptor: string): boolean {
  const info = readFileSync(`/proc/${pid}/fdinfo/${descriptor}`, 'utf8');
  return (Number.parseInt(/^flags:\s+(\d+)/m.exec(info)?.[1] ?? '0', 8) & 3) !== 0;
}
