/** Marks in folders that several agents share: what a process uses is not removed as long as it lives. */
import { readlinkSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { identifyProcess, isAlive, type ProcessIdentity } from '../processes/proc.ts';

let known: { readonly pid: number; readonly text: string } | undefined;

/** The content of a mark of this process. */
export function ownMark(): string {
  const { pid } = process;
  if (known?.pid !== pid)
    known = { pid, text: JSON.stringify({ ...identifyProcess(pid), namespace: ownNamespace() }) };
  return known.text;
}

/**
 * Whether the process of a mark still lives. Pids are only valid in their namespace: a mark of another one, or one that
 * says nothing yet, counts for a time.
 */
export async function isHeld(mark: string, strangersMilliseconds: number): Promise<boolean> {
  try {
    const identity = parse(await readFile(mark, 'utf8'));
    if (identity?.namespace === ownNamespace()) return isAlive(identity);
    return Date.now() - (await stat(mark)).mtimeMs < strangersMilliseconds;
  } catch {
    return false;
  }
}

function parse(text: string): (ProcessIdentity & { readonly namespace: string }) | null {
  try {
    return JSON.parse(text) as ProcessIdentity & { readonly namespace: string };
  } catch {
    return null;
  }
}

function ownNamespace(): string {
  const boot = identifyProcess(process.pid)?.bootId ?? '';
  try {
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return boot;
  }
}
