/** Gives a folder of the database to another account, whatever the earlier one has put into it. */
import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  lchownSync,
  lstatSync,
  openSync,
  readdirSync,
} from 'node:fs';
import type { Account } from './account.ts';

const onlyFolder = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Changes the owner of a folder and of everything in it; for root only, while no PostgreSQL uses the folder.
 *
 * The earlier account may still have processes. So each folder is first made inaccessible to them and then
 * read, by its descriptor; links are not followed. An interrupted call leaves the folder to root, and the
 * next call completes it.
 * @throws Error when a file in it has a second name elsewhere and another owner
 */
export function takeOver(folder: string, { uid, gid }: Account): void {
  const top = openSync(folder, onlyFolder);
  try {
    const earlier = fstatSync(top).uid;
    if (earlier === uid) return;
    fchownSync(top, 0, 0);
    giveContents(top, folder, { uid, gid }, new Set([earlier, uid]));
    fchownSync(top, uid, gid);
  } finally {
    closeSync(top);
  }
}

function giveContents(folder: number, path: string, account: Account, owners: ReadonlySet<number>): void {
  const here = `/proc/self/fd/${folder}`;
  for (const { name } of readdirSync(here, { withFileTypes: true })) {
    const entry = lstatSync(`${here}/${name}`);
    if (!entry.isDirectory()) {
      if (entry.nlink > 1 && !owners.has(entry.uid))
        throw new Error(`${path}/${name} has a second name elsewhere and another owner: remove it.`);
      lchownSync(`${here}/${name}`, account.uid, account.gid);
      continue;
    }
    const inner = openSync(`${here}/${name}`, onlyFolder);
    try {
      fchownSync(inner, account.uid, account.gid);
      giveContents(inner, `${path}/${name}`, account, owners);
    } finally {
      closeSync(inner);
    }
  }
}
