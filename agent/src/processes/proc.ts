/** The processes of this machine, as /proc shows them; every one of them may end while it is read. */
import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const childPollMilliseconds = 5;

export interface ProcessStat {
  /** One letter: `Z` and `X` have ended. */
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  /** Processor time of children that have ended, with their own children, in clock ticks. */
  readonly endedChildrenTicks: number;
  /** Clock ticks after boot. */
  readonly startTicks: string;
}

/** @returns the pids that match; one whose files cannot be read does not */
export function pidsWhere(matches: (pid: number) => boolean): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return matches(pid);
      } catch {
        return false;
      }
    });
}

/**
 * @param task a pid, the thread of a process as `<pid>/task/<thread>`, or `self`
 * @returns null if there is no such process
 */
export function statOf(task: number | string): ProcessStat | null {
  const text = textOrEmpty(`/proc/${task}/stat`);
  // The name in parentheses may itself contain blanks and parentheses; fields are counted after the last one.
  const [state, parent, group, ...others] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const startTicks = others[16];
  if (state === undefined || startTicks === undefined) return null;
  const endedChildrenTicks = Number(others[10]) + Number(others[11]);
  return { state, parent: Number(parent), group: Number(group), endedChildrenTicks, startTicks };
}

/** The first 15 characters of the name of a process's program; empty if there is no such process. */
export function programNameOf(pid: number): string {
  return textOrEmpty(`/proc/${pid}/comm`).trimEnd();
}

/** Whether a process or thread still runs. */
export function isRunning({ state }: ProcessStat): boolean {
  return state !== 'Z' && state !== 'X';
}

/** The threads of a process, as `statOf` takes them. */
export function threadsOf(pid: number): string[] {
  return namesIn(`/proc/${pid}/task`).map((thread) => `${pid}/task/${thread}`);
}

function childrenOf(pid: number): number[] {
  return threadsOf(pid).flatMap(startedBy);
}

/** Those of this process, which its first thread starts: the others need not be read. */
export function ownChildren(): number[] {
  return startedBy(`${process.pid}/task/${process.pid}`);
}

function startedBy(thread: string): number[] {
  return textOrEmpty(`/proc/${thread}/children`)
    .split(' ')
    .filter((child) => child !== '')
    .map(Number);
}

/**
 * All descendants of the processes, as long as their parents exist.
 * @param pids processes; they are part of the result
 * @param most stops once that many are found
 */
export function withDescendants(pids: Iterable<number>, most = Infinity): ReadonlySet<number> {
  const found = new Set(pids);
  // Processes added in the meantime are visited, too.
  for (const pid of found) {
    if (found.size >= most) break;
    for (const child of childrenOf(pid)) found.add(child);
  }
  return found;
}

/** Processes and threads of the whole machine. @returns 0 where the kernel does not say */
export function tasksOfMachine(): number {
  return Number(/\/(\d+) /.exec(textOrEmpty('/proc/loadavg'))?.[1] ?? 0);
}

/** The one process that a child has started, as soon as it has; undefined if the child ended first. */
export async function childOf(child: ChildProcess): Promise<number | undefined> {
  while (child.exitCode === null && child.signalCode === null) {
    const found = pidsWhere((pid) => statOf(pid)?.parent === child.pid)[0];
    if (found !== undefined) return found;
    await delay(childPollMilliseconds);
  }
  return undefined;
}

/** Processes of a group. */
export function membersOf(group: number): number[] {
  return pidsWhere((pid) => statOf(pid)?.group === group);
}

/** Identifies a process across pid reuse and reboots. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Field 22 of /proc/<pid>/stat: clock ticks after boot. */
  readonly startTicks: string;
  readonly bootId: string;
}

/** Sends a signal to the process that has that pid now, or, negative, to the members of that group. */
export function signalQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has already ended.
  }
}

/** The names in a folder; none if it cannot be read. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The text of a file; empty if it cannot be read. */
export function textOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

let knownBootId: string | undefined;

/** The id of this boot; empty if the system has none. */
export function bootId(): string {
  knownBootId ??= textOrEmpty('/proc/sys/kernel/random/boot_id').trim();
  return knownBootId;
}

/** The identity of a running process; null if no process has that pid. A zombie counts as ended. */
export function identifyProcess(pid: number): ProcessIdentity | null {
  const startTicks = startTicksOf(pid);
  return startTicks === null ? null : { pid, startTicks, bootId: bootId() };
}

/** Whether exactly that process is still running. */
export function isAlive(identity: ProcessIdentity): boolean {
  return identity.bootId === bootId() && startTicksOf(identity.pid) === identity.startTicks;
}

/** Sends a signal to exactly that process; false if it has ended. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): boolean {
  if (!isAlive(identity)) return false;
  try {
    return process.kill(identity.pid, signal);
  } catch {
    return false;
  }
}

/**
 * Kills exactly that process, also one whose first thread has ended: it is shown as a zombie while its other
 * threads still run.
 */
export function killProcess({ pid, startTicks, bootId: boot }: ProcessIdentity): void {
  if (boot === bootId() && statOf(pid)?.startTicks === startTicks) signalQuietly(pid, 'SIGKILL');
}

function startTicksOf(pid: number): string | null {
  const stat = statOf(pid);
  return stat !== null && isRunning(stat) ? stat.startTicks : null;
}
