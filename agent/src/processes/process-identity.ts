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

function startTicksOf(pid: number): string | null {
  const text = textOrNull(`/proc/${pid}/stat`);
  if (text === null) return null;
  // The name in parentheses may itself contain blanks and parentheses: fields are counted after the last one.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? null : (fields[19] ?? null);
}

function textOrNull(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
