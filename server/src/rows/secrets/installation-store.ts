/** SQL of the installation: one row with its id and a constant that only its sealing key opens. */
import type { Kysely, Selectable } from 'kysely';
import type { InstallationTable, Schema } from '../schema.ts';

export async function hasInstallation(db: Kysely<Schema>): Promise<boolean> {
  const row = await db.selectFrom('installation').select('id').executeTakeFirst();
  return row !== undefined;
}

/** Stores the row, unless there is one. @returns the row that is stored then */
export async function putInstallation(
  db: Kysely<Schema>,
  row: { readonly id: string; readonly sealing_check: Buffer },
): Promise<Pick<Selectable<InstallationTable>, 'id' | 'sealing_check'>> {
  await db
    .insertInto('installation')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return db.selectFrom('installation').select(['id', 'sealing_check']).executeTakeFirstOrThrow();
}

/** The id of the folder that the blobs are in, if one is stored; other servers wait until the transaction ends. */
export async function lockBlobFolderId(tx: Kysely<Schema>): Promise<string | null> {
  const row = await tx
    .selectFrom('installation')
    .select('blob_folder_id')
    .forUpdate()
    .executeTakeFirstOrThrow();
  return row.blob_folder_id;
}

export async function storeBlobFolderId(tx: Kysely<Schema>, id: string): Promise<void> {
  await tx.updateTable('installation').set({ blob_folder_id: id }).execute();
}
