/** Makes sure that all servers of an installation keep its blobs in the same folder. */
import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import type { Schema } from '../rows/schema.ts';
import { lockBlobFolderId, storeBlobFolderId } from '../rows/secrets/installation-store.ts';

/** In the folder itself, where no blob is. */
const markName = 'installation-id';

/**
 * Marks the folder at the first start, and compares the mark at every later one.
 * @param folder absolute path
 * @throws Error that a person can act on: the folder is not the one that the database's blobs are in
 */
export async function checkBlobFolder(db: Kysely<Schema>, folder: string): Promise<void> {
  const file = join(folder, markName);
  await db.transaction().execute(async (tx) => {
    const id = await lockBlobFolderId(tx);
    const found = existsSync(file) ? readFileSync(file, 'utf8').trim() : null;
    if (id === null) {
      await storeBlobFolderId(tx, found ?? markFolder(folder, file));
    } else if (id !== found) {
      throw new Error(
        `The folder ${folder} is not the one that the states and plans of this installation are in: ` +
          `${found === null ? `it has no file ${markName}` : `its file ${markName} contains ${found}`}, ` +
          `and the database says ${id}. Specify the right folder in ENVARIUM_BLOB_DIR, mount it, or restore it ` +
          `from the backup. If its content is lost for good, write ${id} into ${file}.`,
      );
    }
  });
}

/** @returns the new id of the folder */
function markFolder(folder: string, file: string): string {
  const id = randomUUID();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeMark(file, id);
  return id;
}

function writeMark(file: string, id: string): void {
  const descriptor = openSync(file, 'wx', 0o600);
  try {
    writeSync(descriptor, `${id}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
