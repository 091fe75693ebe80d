/** The system account that the embedded PostgreSQL runs as: it refuses to run as root. */
import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';

export interface Account {
  readonly uid: number;
  readonly gid: number;
}

const accountForRoot = 'nobody';

/**
 * Our own account, or `nobody` when we are root.
 * @throws Error when we are root and the system has no such account
 */
export function databaseAccount(): Account {
  const uid = process.getuid?.() ?? -1;
  if (uid !== 0) return { uid, gid: process.getgid?.() ?? -1 };
  for (const line of readFileSync('/etc/passwd', 'utf8').split('\n')) {
    const [name, , foundUid, foundGid] = line.split(':');
    if (name === accountForRoot) return { uid: Number(foundUid), gid: Number(foundGid) };
  }
  throw new Error(
    `The embedded PostgreSQL does not run as root and the account ${accountForRoot} does not exist. Add it, start the service as another user, or set DATABASE_URL.`,
  );
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
