/**
 * The uids of an agent's slots. Two agents on one machine never share a uid: a common folder contains one
 * file per uid, created exclusively, that names the owning agent's spool. The uids of a removed spool are
 * released.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { makeFolders } from '#guards/make-folders.ts';
import { agentSettings } from '#settings/agent.ts';
import { pidsWhere } from '../processes/proc.ts';

export interface UidRange {
  /** The first uid. */
  readonly base: number;
  readonly count: number;
}

export interface SlotUidRequest {
  readonly range: UidRange;
  /** The number of slots; each needs one uid at a time. */
  readonly slots: number;
  /** The number of kept trees, whose uids no run gets; absent: 0. */
  readonly keptTrees?: number;
  /** Absolute path of the agent's spool folder; the claim lasts as long as the folder exists. */
  readonly spoolFolder: string;
  /** Folder of the claims, the same for all agents of the machine. */
  readonly registryFolder: string;
  /** Contents of the machine's passwd file: uids of accounts are never used. */
  readonly passwd?: string;
  /** Uids of running processes, of which only those that are claimed already are used. */
  readonly runningUids?: ReadonlySet<number>;
}

export const defaultRegistryFolder = '/var/lib/envarium/slot-uids';
/** So many attempts of a slot pass before a uid is used again. */
const uidsPerSlot = 4;
/** At most this many spool folders are named when a person has to make room. */
const namedOwners = 3;

/**
 * Claims the uids of an agent, the same ones again after a restart.
 * @returns at least one for each slot, and more where the range has them
 * @throws an Error that names the settings if the range has too few free uids
 */
export function allocateSlotUids(request: SlotUidRequest): number[] {
  const { registryFolder, spoolFolder, slots, keptTrees = 0 } = request;
  const { base, count } = request.range;
  makeFolders(registryFolder, 0o700);
  const accounts = accountUids(request.passwd ?? readPasswd());
  const claimed = new Set(readdirSync(registryFolder).map(Number));
  // Of the service's own PostgreSQL, for example: what runs under a slot's uid is ended.
  const used = request.runningUids ?? uidsOfProcesses();
  const candidates = Array.from({ length: count }, (_, index) => base + index).filter(
    (uid) => uid > 0 && !accounts.has(uid),
  );
  const wanted = slots * uidsPerSlot + keptTrees;
  const taken = candidates
    .filter((uid) => claimed.has(uid) && ownerOf(registryFolder, uid) === spoolFolder)
    .slice(0, wanted);
  using claim = prepareClaim(registryFolder, spoolFolder);
  const added: number[] = [];
  for (const uid of candidates) {
    if (taken.length + added.length >= wanted) break;
    if (!taken.includes(uid) && !used.has(uid) && claim.take(uid)) added.push(uid);
  }
  const all = [...taken, ...added];
  if (all.length >= slots) return all;
  // An agent that does not start keeps none from those that could.
  for (const uid of added) rmSync(join(registryFolder, String(uid)), { force: true });
  const others = candidates.filter((uid) => !all.includes(uid));
  const reasons = [
    ...describeRunning(others.filter((uid) => used.has(uid))),
    ...describeOwners(others.map((uid) => ownerOf(registryFolder, uid))),
  ];
  throw new Error(
    `only ${all.length} of the uids ${base} to ${base + count - 1} are free, and ${slots} slots need one ` +
      `each${reasons.length === 0 ? '' : ` (${reasons.join('; ')})`}: raise ${agentSettings.slotUidCount.name}, or move the range with ${agentSettings.slotUidBase.name}`,
  );
}

function describeRunning(uids: readonly number[]): string[] {
  return uids.length === 0 ? [] : [`processes run under ${uids.join(', ')}`];
}

/** Names the spool folders that others are claimed for: removing one of them releases its uids. */
function describeOwners(owners: readonly (string | null)[]): string[] {
  const folders = [...new Set(owners.filter((owner) => owner !== null && owner !== ''))];
  if (folders.length === 0) return [];
  const more = folders.length > namedOwners ? ` and ${folders.length - namedOwners} more` : '';
  return [`the others are claimed for ${folders.slice(0, namedOwners).join(', ')}${more}`];
}

interface Claim extends Disposable {
  /** @returns whether the uid is ours now */
  take(uid: number): boolean;
}

/** A claim is a link to one durable file: it appears with its content, for one agent only. */
function prepareClaim(registryFolder: string, spoolFolder: string): Claim {
  const file = join(registryFolder, `.claim-${process.pid}`);
  rmSync(file, { force: true });
  const descriptor = openSync(file, 'wx', 0o600);
  writeSync(descriptor, spoolFolder);
  fsyncSync(descriptor);
  closeSync(descriptor);
  const create = (uid: number) => {
    try {
      linkSync(file, join(registryFolder, String(uid)));
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    }
  };
  return {
    take(uid) {
      if (create(uid)) return true;
      const owner = ownerOf(registryFolder, uid);
      // An unreadable or empty claim counts as taken all the same.
      if (owner === null || owner === '' || existsSync(owner)) return false;
      return removeStale(join(registryFolder, String(uid)), owner) && create(uid);
    },
    [Symbol.dispose]: () => rmSync(file, { force: true }),
  };
}

// Renaming succeeds for one agent only, so that two agents cannot both replace the same stale claim.
function removeStale(path: string, staleOwner: string): boolean {
  const aside = `${path}.stale-${process.pid}`;
  try {
    renameSync(path, aside);
  } catch {
    return false;
  }
  if (readFileSync(aside, 'utf8') === staleOwner) {
    rmSync(aside, { force: true });
    return true;
  }
  // Another agent was faster, and this is its new claim.
  renameSync(aside, path);
  return false;
}

function uidsOfProcesses(): Set<number> {
  const uids = new Set<number>();
  pidsWhere((pid) => uids.add(statSync(`/proc/${pid}`).uid).size > 0);
  return uids;
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
