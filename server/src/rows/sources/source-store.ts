/** SQL of uploaded code. */
import type { Insertable, Selectable } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import type { BlobRef } from '../../ground/blobs/blob-store.ts';
import { lockById, rowById } from '../row-queries.ts';
import type { SourceArchiveTable } from '../schema.ts';

export type SourceArchiveRow = Selectable<SourceArchiveTable>;

export const getSourceRow = rowById('source_archive');

/** The archive, locked until the transaction ends. */
export const lockSourceRow = lockById('source_archive');

export async function insertSource(
  tx: Connection,
  row: Insertable<SourceArchiveTable>,
): Promise<SourceArchiveRow> {
  return tx.insertInto('source_archive').values(row).returningAll().executeTakeFirstOrThrow();
}

/** The size of all archives of an environment that have not expired. */
export async function openSourceBytes(db: Connection, environmentId: string, now: Date): Promise<number> {
  const { bytes } = await db
    .selectFrom('source_archive')
    .select((eb) => eb.fn.sum<string | null>('bytes').as('bytes'))
    .where('environment_id', '=', environmentId)
    .where('blob', 'is not', null)
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow();
  return Number(bytes ?? 0);
}

/** The row is kept for the deployments that name it. */
export async function clearSourceBlob(tx: Connection, id: string): Promise<void> {
  await tx.updateTable('source_archive').set({ blob: null }).where('id', '=', id).execute();
}

/** Deletes the archives of an environment. @returns their files, which the caller must remove */
export async function deleteSources(tx: Connection, environmentId: string): Promise<BlobRef[]> {
  const rows = await tx
    .deleteFrom('source_archive')
    .where('environment_id', '=', environmentId)
    .returning('blob')
    .execute();
  return rows.flatMap(({ blob }) => blob ?? []);
}
