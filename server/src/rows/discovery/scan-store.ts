/** SQL of scans of environment discovery. */
import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import { lockById, rowById } from '../row-queries.ts';
import type { DiscoveryScanTable } from '../schema.ts';

export type ScanRow = Selectable<DiscoveryScanTable>;

/** Scans that a project keeps. */
const kept = 20;

export const getScan = rowById('discovery_scan');

export const lockScan = lockById('discovery_scan');

export async function insertScan(tx: Connection, row: Insertable<DiscoveryScanTable>): Promise<ScanRow> {
  return tx.insertInto('discovery_scan').values(row).returningAll().executeTakeFirstOrThrow();
}

/** The scan of a version that has not read its folders yet: whoever asks for one more gets this one. */
export async function scanAhead(
  tx: Connection,
  projectId: string,
  version: number,
): Promise<ScanRow | undefined> {
  return tx
    .selectFrom('discovery_scan')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('version', '=', version)
    .where('status', '=', 'RUNNING')
    .where('listed_at', 'is', null)
    .orderBy('created_at', 'desc')
    .limit(1)
    .forUpdate()
    .executeTakeFirst();
}

/** Newest first; those that have not ended, such as one that waits for a person, before all others. */
export async function listScans(db: Connection, projectId: string, limit = kept): Promise<ScanRow[]> {
  return db
    .selectFrom('discovery_scan')
    .selectAll()
    .where('project_id', '=', projectId)
    .orderBy(sql`finished_at is null`, 'desc')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

/** @returns the scan as it is then; undefined if it has finished */
export async function updateScan(
  db: Connection,
  id: string,
  changes: Updateable<DiscoveryScanTable>,
): Promise<ScanRow | undefined> {
  return db
    .updateTable('discovery_scan')
    .set(changes)
    .where('id', '=', id)
    .where('finished_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
}

/** Counts an environment that a scan has created or removed, or a folder that failed. */
export async function countScanned(
  tx: Connection,
  id: string,
  column: 'created' | 'removed' | 'failed',
): Promise<void> {
  await tx
    .updateTable('discovery_scan')
    .set((eb) => ({ [column]: eb(column, '+', 1) }))
    .where('id', '=', id)
    .execute();
}

/** Ends scans that have read the folders, because a newer one does the rest, and asks again. */
export async function cancelListedScans(
  tx: Connection,
  projectId: string,
  { except, error, at }: { readonly except: string; readonly error: string; readonly at: Date },
): Promise<void> {
  await tx
    .updateTable('discovery_scan')
    .set({ status: 'CANCELLED', error, finished_at: at })
    .where('project_id', '=', projectId)
    .where('id', '<>', except)
    .where('listed_at', 'is not', null)
    .where('finished_at', 'is', null)
    .execute();
}

/** Removes scans that are too old to be shown, and polls that found nothing new, but for the newest. */
export async function forgetScans(tx: Connection, projectId: string): Promise<void> {
  await sql`
    delete from discovery_scan using (
      select id, row_number() over (order by finished_at is null desc, created_at desc, id desc) as place
      from discovery_scan where project_id = ${projectId}
    ) as numbered
    where discovery_scan.id = numbered.id and finished_at is not null
      and (place > ${kept} or (place > 1 and is_unchanged))`.execute(tx);
}
