/**
 * The user id that the embedded PostgreSQL runs as. It refuses to run as root, and an account that other
 * services use (`nobody`) would let them read and change its files: for root, it has an id of its own.
 */
import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';

export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** Settings that decide it. */
export interface AccountSettings {
  /** Undefined: the first id after those for runs. */
  readonly databaseUid?: number | undefined;
  readonly slotUidBase: number;
  readonly slotUidCount: number;
}

const sharedAccount = 'nobody';

/**
 * Our own account, or for root an id that nothing else uses, with or without an account.
 * @param warn receives a sentence when the id cannot be used here and `nobody` is used instead
 * @throws Error when the id belongs to an account by accident
 */
export function databaseAccount(settings: AccountSettings, warn: (sentence: string) => void): Account {
  if (process.getuid?.() !== 0) return { uid: process.getuid?.() ?? -1, gid: process.getgid?.() ?? -1 };
  const uid = settings.databaseUid ?? settings.slotUidBase + settings.slotUidCount;
  const account = entries().find((entry) => entry.uid === uid);
  if (account && settings.databaseUid === undefined)
    throw new Error(
      `The embedded PostgreSQL cannot use the user id ${uid}: it belongs to the account ${account.name}. ` +
        'Set ENVARIUM_DATABASE_UID to a user id that nothing else uses.',
    );
  if (isMapped(uid, readFileSync('/proc/self/uid_map', 'utf8'))) return { uid, gid: account?.gid ?? uid };
  warn(
    `The user id ${uid} does not exist in this container, so the embedded PostgreSQL runs as ` +
      `${sharedAccount}, whose other processes can read and change its files. Set ENVARIUM_DATABASE_UID.`,
  );
  return knownAccount();
}

/** initdb refuses an id without an account: it borrows one, and only the group keeps others out. */
export function initdbAccount({ uid, gid }: Account): Account {
  return entries().some((entry) => entry.uid === uid) ? { uid, gid } : { uid: knownAccount().uid, gid };
}

/** Whether the container's user namespace has the id. `map` has lines of first id, id outside, count. */
export function isMapped(uid: number, map: string): boolean {
  return map.split('\n').some((line) => {
    const [first, , count] = line.trim().split(/\s+/).map(Number);
    return first !== undefined && count !== undefined && uid >= first && uid - first < count;
  });
}

function knownAccount(): Account {
  const found = entries().find(({ name }) => name === sharedAccount);
  if (found) return { uid: found.uid, gid: found.gid };
  throw new Error(
    `The embedded PostgreSQL needs the account ${sharedAccount}, which does not exist. Add it, set ` +
      'ENVARIUM_DATABASE_UID to the id of another account, start the service as another user, or set DATABASE_URL.',
  );
}

function entries(): { name: string; uid: number; gid: number }[] {
  return readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [name, , uid, gid] = line.split(':');
      return name && uid && gid ? [{ name, uid: Number(uid), gid: Number(gid) }] : [];
    });
}

/**
 * Our own account's name: the only one that the database lets in.
 * @throws Error when our uid has no entry in /etc/passwd
 */
export function ownAccountName(): string {
  try {
    return userInfo().username;
  } catch (error) {
    throw new Error(
      `The user id ${process.getuid?.()} has no entry in /etc/passwd, which the embedded PostgreSQL needs. Add one, or set DATABASE_URL.`,
      { cause: error },
    );
  }
}
