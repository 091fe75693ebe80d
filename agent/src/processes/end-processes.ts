/**
 * Ends every process of a run. Nothing is started for it: a run that has used up all processes of the machine
 * is ended all the same.
 */
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isRunning, pidsWhere, signalQuietly, statOf, threadsOf } from './proc.ts';

const defaultDeadlineMilliseconds = 10_000;

/**
 * Kills all processes of a uid and waits until they have ended. Needs root; never called for root's own uid.
 * @param deadlineMilliseconds how long a killed process may take to end (one in an uninterruptible sleep
 * cannot)
 * @throws an Error that names the remaining processes
 */
export async function endProcessesOf(
  uid: number,
  deadlineMilliseconds = defaultDeadlineMilliseconds,
): Promise<void> {
  if (uid <= 0) throw new Error(`refusing to end all processes of uid ${uid}`);
  await endAll(() => processesOf(uid), `slot uid ${uid}`, deadlineMilliseconds);
}

/**
 * Kills the processes that live in a sandbox of a folder, and waits until they have ended.
 * @param folder absolute path of a folder that only sandboxes of one run show
 * @throws an Error that names the remaining processes
 */
export async function endProcessesIn(
  folder: string,
  deadlineMilliseconds = defaultDeadlineMilliseconds,
): Promise<void> {
  await endAll(() => processesIn(folder), `the sandbox of ${folder}`, deadlineMilliseconds);
}

/** Threads of the kernel, by pid: most processes of many machines, and they never get another uid. */
const kernelThreads = new Map<number, number>();
const mostKernelThreads = 10_000;

/** @returns the pids whose real, effective, saved or file system uid is this one, of processes that still run */
export function processesOf(uid: number): number[] {
  if (kernelThreads.size > mostKernelThreads) kernelThreads.clear();
  return pidsWhere((pid) => {
    // Cheaper than its status; root is shown as the owner of a process that may not be dumped.
    const { uid: owner, ino } = statSync(`/proc/${pid}`);
    if (owner !== uid && owner !== 0) return false;
    // Another process with the same pid is another file.
    if (kernelThreads.get(pid) === ino) return false;
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    if (/^Kthread:\s+1$/m.test(status)) kernelThreads.set(pid, ino);
    const uids = /^Uid:\s+(.*)$/m.exec(status)?.[1]?.split(/\s+/) ?? [];
    return uids.includes(String(uid)) && hasThreads(pid);
  });
}

/** @returns pids of processes in another mount namespace than ours that has a mount of the folder or in it */
export function processesIn(folder: string): number[] {
  const own = readlinkSync('/proc/self/ns/mnt');
  const name = folder.replaceAll(
    /[ \t\n\\]/g,
    (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`,
  );
  return pidsWhere(
    (pid) =>
      readlinkSync(`/proc/${pid}/ns/mnt`) !== own &&
      isMounted(name, readFileSync(`/proc/${pid}/mountinfo`, 'utf8')) &&
      hasThreads(pid),
  );
}

function isMounted(name: string, mounts: string): boolean {
  return mounts.includes(` ${name}/`) || mounts.includes(` ${name} `);
}

/**
 * Ends sandboxes that never came to be: if bubblewrap is killed while it makes one, the process inside waits forever
 * for its answer. That one runs nothing, has no uid of a run and sees no folder of one.
 * @param filter absolute path of the filter of system calls, which all sandboxes of an agent have open; null:
 *   it has none
 */
export function endStrandedSandboxes(filter: string | null): void {
  if (filter === null) return;
  const ownDepth = namespacesOf('self');
  const stranded = pidsWhere(
    (pid) =>
      isBubblewrap(pid) &&
      namespacesOf(pid) > ownDepth &&
      !isBubblewrap(statOf(pid)?.parent ?? 0) &&
      readdirSync(`/proc/${pid}/fd`).some((name) =>
        readlinkSync(`/proc/${pid}/fd/${name}`).startsWith(filter),
      ),
  );
  for (const pid of stranded) signalQuietly(pid, 'SIGKILL');
}

function isBubblewrap(pid: number): boolean {
  try {
    return basename(readlinkSync(`/proc/${pid}/exe`)) === 'bwrap';
  } catch {
    return false;
  }
}

/** In how many pid namespaces a process has a pid, from ours on. */
function namespacesOf(pid: number | 'self'): number {
  const pids = /^NSpid:\s+(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '';
  return pids.split(/\s+/).length;
}

/** A process whose first thread has ended is shown as a zombie, while its other threads still run. */
function hasThreads(pid: number): boolean {
  return threadsOf(pid).some((thread) => {
    const stat = statOf(thread);
    return stat !== null && isRunning(stat);
  });
}

/** All are stopped before any is killed: a process that keeps forking would be one ahead otherwise. */
async function endAll(find: () => number[], whose: string, deadlineMilliseconds: number): Promise<void> {
  const deadline = performance.now() + deadlineMilliseconds;
  for (let left = find(); left.length > 0; left = find()) {
    if (performance.now() > deadline)
      throw new Error(
        `processes ${left.join(', ')} of ${whose} do not end: they may be waiting for a device or a network file system`,
      );
    for (let stopped = new Set<number>(), more = left; more.length > 0; ) {
      for (const pid of more) signalQuietly(pid, 'SIGSTOP');
      for (const pid of more) stopped.add(pid);
      more = performance.now() > deadline ? [] : find().filter((pid) => !stopped.has(pid));
      left = [...stopped];
    }
    for (const pid of left) signalQuietly(pid, 'SIGKILL');
    await delay(2);
  }
}
