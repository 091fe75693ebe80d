/** Identifies processes across pid reuse and reboots, using /proc. */
import type { ProcessIdentity } from '../spool/layout.ts';
import { isRunning, signalQuietly, statOf, textOrEmpty } from './proc.ts';

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
