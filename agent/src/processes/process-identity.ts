/** Identifies processes across pid reuse and reboots, using /proc. */
import { readFileSync } from 'node:fs';
import type { ProcessIdentity } from '../spool/layout.ts';

let knownBootId: string | undefined;

/** The id of this boot; empty if the system has none. */
export function bootId(): string {
  knownBootId ??= textOrNull('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
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
  if (boot !== bootId() || statOf(pid)?.startTicks !== startTicks) return;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}

function startTicksOf(pid: number): string | null {
  const stat = statOf(pid);
  return stat === null || ['Z', 'X'].includes(stat.state) ? null : stat.startTicks;
}

function statOf(pid: number): { state: string; startTicks: string } | null {
  const text = textOrNull(`/proc/${pid}/stat`);
  if (text === null) return null;
  // The name in parentheses may itself contain blanks and parentheses: fields are counted after the last one.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state] = fields;
  const startTicks = fields[19];
  return state === undefined || startTicks === undefined ? null : { state, startTicks };
}

function textOrNull(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
