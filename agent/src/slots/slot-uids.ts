/**
 * The uids of an agent's slots. Two agents on one machine never share a uid: a common folder contains one
 * file per uid, created exclusively, that names the owning agent's spool. The uids of a removed spool are
 * released.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { agentSettings } from '#settings/agent.ts';

export interface UidRange {
  /** The first uid. */
  readonly base: number;
  readonly count: number;
}

export interface SlotUidRequest {
  readonly range: UidRange;
  /** The number of uids needed. */
  readonly slots: number;
  /** Absolute path of the agent's spool folder; the claim lasts as long as the folder exists. */
  readonly spoolFolder: string;
  /** Folder of the claims, the same for all agents of the machine. */
  readonly registryFolder: string;
  /** Contents of the machine's passwd file: uids of accounts are never used. */
  readonly passwd?: string;
}

export const defaultRegistryFolder = '/var/lib/envarium/slot-uids';

/**
 * Claims one uid per slot, the same ones again after a restart.
 * @returns as many uids as there are slots
 * @throws an Error that names the settings if the range has too few free uids
 */
export function allocateSlotUids(request: SlotUidRequest): number[] {
  mkdirSync(request.registryFolder, { recursive: true, mode: 0o700 });
  const accounts = accountUids(request.passwd ?? readPasswd());
  const candidates = Array.from(
    { length: request.range.count },
    (_, index) => request.range.base + index,
  ).filter((uid) => uid > 0 && !accounts.has(uid));
  const own = candidates.filter((uid) => ownerOf(request.registryFolder, uid) === request.spoolFolder);
  const taken = own.slice(0, request.slots);
  for (const uid of candidates) {
    if (taken.length >= request.slots) return taken;
    if (!taken.includes(uid) && claim(request.registryFolder, uid, request.spoolFolder)) taken.push(uid);
  }
  if (taken.length >= request.slots) return taken;
  const { base, count } = request.range;
  throw new Error(
    `only ${taken.length} of the uids ${base} to ${base + count - 1} are free, and ${request.slots} slots need one ` +
      `each: raise ${agentSettings.slotUidCount.name}, or move the range with ${agentSettings.slotUidBase.name}`,
  );
}

function claim(registryFolder: string, uid: number, spoolFolder: string): boolean {
  const path = join(registryFolder, String(uid));
  if (create(path, spoolFolder)) return true;
  const owner = ownerOf(registryFolder, uid);
  // An unreadable or empty claim may be in the middle of being written; it is left alone.
  if (owner === null || owner === '' || existsSync(owner)) return false;
  return takeOver(path, owner, spoolFolder);
}

function create(path: string, spoolFolder: string): boolean {
  let descriptor: number;
  try {
    descriptor = openSync(path, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
  writeSync(descriptor, spoolFolder);
  fsyncSync(descriptor);
  closeSync(descriptor);
  return true;
}

// Renaming succeeds for one agent only, so that two agents cannot both replace the same stale claim.
function takeOver(path: string, staleOwner: string, spoolFolder: string): boolean {
  const aside = `${path}.stale-${process.pid}`;
  try {
    renameSync(path, aside);
  } catch {
    return false;
  }
  const owner = readFileSync(aside, 'utf8');
  rmSync(aside, { force: true });
  if (owner !== staleOwner) {
    create(path, owner);
    return false;
  }
  return create(path, spoolFolder);
}

function ownerOf(registryFolder: string, uid: number): string | null {
  try {
    return readFileSync(join(registryFolder, String(uid)), 'utf8');
  } catch {
    return null;
  }
}

function readPasswd(): string {
  try {
    return readFileSync('/etc/passwd', 'utf8');
  } catch {
    return '';
  }
}

function accountUids(passwd: string): Set<number> {
  return new Set(
    passwd
      .split('\n')
      .map((line) => Number(line.split(':')[2]))
      .filter((uid) => Number.isInteger(uid)),
  );
}
