/** Finds the processes of a run without its own uid: they have its log files open. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { sep } from 'node:path';

/**
 * @param folder absolute path
 * @returns the pids of other processes with open files below the folder
 */
export function processesHolding(folder: string): number[] {
  const prefix = folder + sep;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && openFiles(pid).some((file) => file.startsWith(prefix)));
}

function openFiles(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).map((name) => readlinkOrEmpty(`${folder}/${name}`));
  } catch {
    return [];
  }
}

function readlinkOrEmpty(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return '';
  }
}

/** Like `processesHolding`, but only processes that can write to the open file. */
export function processesWriting(folder: string): number[] {
  const prefix = folder + sep;
  return processesHolding(folder).filter((pid) => {
    try {
      return readdirSync(`/proc/${pid}/fd`).some(
        (name) =>
          readlinkOrEmpty(`/proc/${pid}/fd/${name}`).startsWith(prefix) &&
          canWrite(`/proc/${pid}/fdinfo/${name}`),
      );
    } catch {
      return false;
    }
  });
}

// The access mode is in the two lowest bits of the flags, which are octal.
function canWrite(info: string): boolean {
  return (Number.parseInt(/^flags:\s+(\d+)/m.exec(readFileSync(info, 'utf8'))?.[1] ?? '0', 8) & 3) !== 0;
}
