/** SQL of bulk operations. */
import { type Insertable, type Selectable, sql } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import { homeOf, rowById, rowsWhere } from '../row-queries.ts';
import type { BulkOperationItemTable, BulkOperationTable } from '../schema.ts';

export type BulkRow = Selectable<BulkOperationTable>;
export type BulkItemRow = Selectable<BulkOperationItemTable>;

export const bulkOperationHome = homeOf('bulk_operation');

export const getBulkRow = rowById('bulk_operation');

export const listBulkItems = rowsWhere('bulk_operation_item', 'operation_id', 'position');

export type NewItem = Pick<BulkItemRow, 'environment_id' | 'waiting_deployment_id' | 'waiting_plan_hash'>;

export async function insertBulkOperation(
  tx: Connection,
  row: Insertable<BulkOperationTable>,
  items: readonly NewItem[],
): Promise<BulkRow> {
  const inserted = await tx.insertInto('bulk_operation').values(row).returningAll().executeTakeFirstOrThrow();
  await tx
    .insertInto('bulk_operation_item')
    .values(items.map((item, position) => ({ ...item, operation_id: row.id, position })))
    .execute();
  return inserted;
}

/** The next item that is neither carried out nor in progress; locked until the transaction ends. */
export async function lockNextItem(tx: Connection, operationId: string): Promise<BulkItemRow | undefined> {
  return tx
    .selectFrom('bulk_operation_item')
    .selectAll()
    .where('operation_id', '=', operationId)
    .where('status', '=', 'pending')
    .orderBy('position')
    .limit(1)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
}

/** Stores the result of an item, once: a stored result is never replaced. */
export async function finishItem(
  tx: Connection,
  { operation_id: operationId, position }: Pick<BulkItemRow, 'operation_id' | 'position'>,
  result: Pick<BulkItemRow, 'status' | 'error' | 'deployment_id' | 'finished_at'>,
): Promise<void> {
  await tx
    .updateTable('bulk_operation_item')
    .set(result)
    .where('operation_id', '=', operationId)
    .where('position', '=', position)
    .where('status', '=', 'pending')
    .execute();
}

/** Fails everything that is still pending. @param error why, in words for the author */
export async function failPendingItems(
  db: Connection,
  operationId: string,
  error: string,
  at: Date,
): Promise<void> {
  await db
    .updateTable('bulk_operation_item')
    .set({ status: 'failed', error, finished_at: at })
    .where('operation_id', '=', operationId)
    .where('status', '=', 'pending')
    .execute();
}

/**
 * Ends the operation if no item is pending.
 * @returns whether it has ended
 */
export async function finishOperation(db: Connection, id: string, at: Date): Promise<boolean> {
  const pending = sql<boolean>`exists (
    select from bulk_operation_item where operation_id = bulk_operation.id and status = 'pending')`;
  const ended = await db
    .updateTable('bulk_operation')
    .set({ finished_at: sql<Date>`coalesce(finished_at, ${at})`, sealed_data: null })
    .where('id', '=', id)
    .where((eb) => eb.not(pending))
    .returning('id')
    .executeTakeFirst();
  return ended !== undefined;
}

export async function deleteBulkOperationsBefore(db: Connection, before: Date): Promise<void> {
  await db.deleteFrom('bulk_operation').where('created_at', '<', before).execute();
}
