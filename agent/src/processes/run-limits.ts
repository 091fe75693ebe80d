/** Limits of one run on the machine, so that it ends before it takes what other runs and the service need. */
import { spawnSync } from 'node:child_process';
import { lstatSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sharedSettings } from '#settings/server-and-agent.ts';
import { processesOf } from './end-processes.ts';
import { namesIn, ownChildren, tasksOfMachine, textOrEmpty, withDescendants } from './proc.ts';
import type { StopReason } from './stop-reason.ts';

export interface RunLimits {
  /** Processes and threads. */
  readonly processes: number;
  /** Open files of each process. */
  readonly openFiles: number;
  /** Of each file. */
  readonly fileBytes: number;
  /** Of all processes together, without what they share with files. */
  readonly memoryBytes: number;
  /** Of the work folder and of the attempt's part of the spool together. */
  readonly diskBytes: number;
  /** Space that stays free on the file systems of the work folder and of the spool folder. */
  readonly reserveBytes: number;
}

const megabyte = 1024 * 1024;
/** Once nearly all are in use, the next ones fail, and the run cannot be expected to get on. */
const nearlyAll = 0.9;
/** Of the processes that a run may have: what is started at once only by a run that starts too many. */
const suspicious = 0.25;
/** Counting stops there; the limit of the file system does the rest. */
const maxCountedFiles = 200_000;

/** The options of prlimit for a command. @param ownsUid whether the uid is not shared in its namespace */
export function limitOptions(limits: RunLimits, ownsUid: boolean): string[] {
  return [
    '--core=0',
    `--nofile=${limits.openFiles}`,
    `--fsize=${limits.fileBytes}`,
    ...(ownsUid ? [`--nproc=${limits.processes}`] : []),
  ];
}

let inherited: string | undefined;

/**
 * Gives this process the limits of its commands, so that none of them needs a program that sets them. Only for a
 * runner of root whose commands have uids of their own: the number of processes does not limit root itself.
 * @param prlimit absolute path; null where it is not installed
 */
export function passLimitsOn(limits: RunLimits, prlimit: string | null): void {
  const options = limitOptions(limits, true);
  if (prlimit === null || inherited === options.join()) return;
  const { status } = spawnSync(prlimit, [...options, `--pid=${process.pid}`], { env: {}, stdio: 'ignore' });
  inherited = status === 0 ? options.join() : undefined;
}

/** Whether every process that this one starts has these limits. */
export function arePassedOn(limits: RunLimits): boolean {
  return inherited === limitOptions(limits, true).join();
}

export interface WatchedRun {
  /** The uid of processes that may have left their parents; null: all are descendants of this process. */
  readonly slotUid: number | null;
  /** May not exist yet; the folder above it does. */
  readonly workRoot: string;
  /** Of the attempt. */
  readonly spoolFolder: string;
}

/** Looks at what a run uses now. */
export class ResourceWatch {
  readonly #limits: RunLimits;
  readonly #run: WatchedRun;
  readonly #usedAtStart: readonly number[];
  readonly #tasksOfMachine: () => number;
  /** Of the run and of the machine, at the last check. */
  #tasks = 0;
  #tasksBefore: number;

  /** @param ofMachine counts the processes and threads of the machine */
  constructor(limits: RunLimits, run: WatchedRun, ofMachine = tasksOfMachine) {
    this.#tasksOfMachine = ofMachine;
    this.#tasksBefore = ofMachine();
    this.#limits = limits;
    this.#run = run;
    this.#usedAtStart = fileSystemsOf(run).map(usedBytes);
  }

  /** @returns why the run must stop now, or null */
  check(): StopReason | null {
    this.#tasksBefore = this.#tasksOfMachine();
    return this.#checkProcesses() ?? this.#checkDisk();
  }

  /**
   * Whether the run may be at its limit, because it had many processes at the last check, or because many have been
   * started on this machine since then, by whomever. Cheap: it reads one file.
   */
  isDue(): boolean {
    const suspects = Math.max(this.#tasks, this.#tasksOfMachine() - this.#tasksBefore);
    return suspects > this.#limits.processes * suspicious;
  }

  #checkProcesses(): StopReason | null {
    const { processes, memoryBytes } = this.#limits;
    const nearly = processes * nearlyAll;
    const pids = this.#pids(nearly);
    let tasks = 0;
    let bytes = 0;
    for (const pid of pids) {
      // Reading on would take longer the more it matters to be fast.
      if (pids.size >= nearly) {
        tasks = pids.size;
        break;
      }
      const status = textOrEmpty(`/proc/${pid}/status`);
      tasks += numberIn(status, 'Threads');
      bytes += (numberIn(status, 'RssAnon') + numberIn(status, 'RssShmem')) * 1024;
    }
    this.#tasks = tasks;
    if (tasks >= nearly)
      return reason(
        `the run has ${tasks} processes and threads, and ${processes} are allowed`,
        sharedSettings.runProcessLimit.name,
      );
    if (bytes > memoryBytes)
      return reason(
        `the run uses ${inMegabytes(bytes)} MB of memory, and ${inMegabytes(memoryBytes)} MB are allowed`,
        sharedSettings.runMemoryLimitMegabytes.name,
      );
    return null;
  }

  /** @param most looks for no more than that many */
  #pids(most: number): ReadonlySet<number> {
    const { slotUid } = this.#run;
    const found = withDescendants(ownChildren(), most);
    return slotUid === null || found.size >= most
      ? found
      : withDescendants([...found, ...processesOf(slotUid)], most);
  }

  #checkDisk(): StopReason | null {
    const { diskBytes, reserveBytes } = this.#limits;
    const { workRoot, spoolFolder } = this.#run;
    for (const [what, folder] of [
      ['work', workRoot],
      ['spool', spoolFolder],
    ] as const) {
      const free = freeBytes(folder);
      if (free !== null && free < reserveBytes) return scarceDisk(what, folder, free, reserveBytes);
    }
    // Only if one of the file systems has grown that much can the folders have.
    const hasGrown = fileSystemsOf(this.#run).some(
      (folder, index) => usedBytes(folder) - (this.#usedAtStart[index] ?? 0) > diskBytes / 2,
    );
    if (!hasGrown) return null;
    const work = folderBytes(workRoot);
    const bytes = work + folderBytes(spoolFolder);
    if (bytes <= diskBytes) return null;
    const what = work > diskBytes ? '' : ' and its part of the spool folder';
    return reason(
      `the work folder of the run${what} ${what === '' ? 'has' : 'have'} ${inMegabytes(what === '' ? work : bytes)} MB, and ${inMegabytes(diskBytes)} MB are allowed`,
      sharedSettings.runDiskLimitMegabytes.name,
    );
  }
}

/** The work folder may not exist yet. */
function fileSystemsOf({ workRoot, spoolFolder }: WatchedRun): readonly string[] {
  return [dirname(workRoot), spoolFolder];
}

function reason(text: string, setting: string): StopReason {
  return { result: 'failed', how: 'now', message: `${text}; it was stopped (setting ${setting})` };
}

/**
 * The tool is interrupted while there is room for what it has begun: its state, the copies of it, and the outcome.
 * It is killed only if it uses up half of that.
 */
function scarceDisk(what: string, folder: string, free: number, reserveBytes: number): StopReason {
  const sizes = `${inMegabytes(free)} MB left, and ${inMegabytes(reserveBytes)} MB are kept free`;
  return {
    result: 'failed',
    how: free < reserveBytes / 2 ? 'now' : 'gently',
    message: `the disk is full: the ${what} folder ${folder} has ${sizes}; the run was interrupted (setting ${sharedSettings.runDiskReserveMegabytes.name}). Free some space, then deploy again`,
  };
}

function inMegabytes(bytes: number): number {
  return Math.ceil(bytes / megabyte);
}

function numberIn(status: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
}

function freeBytes(folder: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return null;
  }
}

function usedBytes(folder: string): number {
  try {
    const { blocks, bfree, bsize } = statfsSync(folder);
    return (blocks - bfree) * bsize;
  } catch {
    return 0;
  }
}

/** Disk usage of a folder; links are counted, not followed. */
function folderBytes(root: string): number {
  let bytes = 0;
  let count = 0;
  const waiting = [root];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop())
    for (const name of namesIn(folder)) {
      const path = join(folder, name);
      const status = lstatSync(path, { throwIfNoEntry: false });
      if (++count > maxCountedFiles) return bytes;
      bytes += (status?.blocks ?? 0) * 512;
      if (status?.isDirectory()) waiting.push(path);
    }
  return bytes;
}
