/** Queries that stores of many tables need: a row by its id, the rows of an organization, the home of a row. */
import type { Selectable, Updateable } from 'kysely';
import type { Connection } from '../framework/context.ts';
import { type FindHome, homeById, isUuid } from './entity-home.ts';
import type { Schema } from './schema.ts';

/** Tables whose rows have these columns. */
type TableWith<Columns> = {
  [Table in keyof Schema]: Selectable<Schema[Table]> extends Columns ? Table : never;
}[keyof Schema];
type TableWithId = TableWith<{ id: string }>;
type TableOfOrganization = TableWith<{ id: string; organization_id: string | null; created_at: Date }>;
type RowOf<Table extends keyof Schema> = Selectable<Schema[Table]>;

/** A query of one table; to the types, all tables are the one that has the columns of each. */
const from = (db: Connection, table: TableWithId) => db.selectFrom(table as 'variable');

/** Whether a text can be an id of the table: an installation chooses the id of its first API key. */
const canBeId = (table: TableWithId, text: string) => table === 'api_key' || isUuid(text);

/** Reads a row by its id; undefined for what is not an id, too. */
export function rowById<Table extends TableWithId>(table: Table) {
  return async (db: Connection, id: string): Promise<RowOf<Table> | undefined> => {
    if (!canBeId(table, id)) return undefined;
    const row: unknown = await from(db, table).selectAll().where('id', '=', id).executeTakeFirst();
    return row as RowOf<Table> | undefined;
  };
}

/** Reads the row and locks it until the transaction ends. */
export function lockById<Table extends TableWithId>(table: Table) {
  return async (tx: Connection, id: string): Promise<RowOf<Table> | undefined> => {
    if (!canBeId(table, id)) return undefined;
    const row: unknown = await from(tx, table)
      .selectAll()
      .where('id', '=', id)
      .forUpdate()
      .executeTakeFirst();
    return row as RowOf<Table> | undefined;
  };
}

/** Reads the rows with these ids, in any order. */
export function rowsByIds<Table extends TableWithId>(table: Table) {
  return async (db: Connection, ids: readonly string[]): Promise<RowOf<Table>[]> => {
    if (ids.length === 0) return [];
    const rows: unknown = await from(db, table)
      .selectAll()
      .where('id', 'in', [...ids])
      .execute();
    return rows as RowOf<Table>[];
  };
}

type ColumnOf<Table extends keyof Schema> = Extract<keyof RowOf<Table>, string>;

/**
 * Reads the rows that have a value in a column.
 * @param order columns to sort by, from the first to the last, each perhaps with ` desc`
 */
export function rowsWhere<Table extends keyof Schema>(
  table: Table,
  column: ColumnOf<Table>,
  ...order: readonly (ColumnOf<Table> | `${ColumnOf<Table>} desc`)[]
) {
  const sorting = order.map((each) => each.split(' '));
  return async (db: Connection, value: string): Promise<RowOf<Table>[]> => {
    let query = db
      .selectFrom(table as 'variable')
      .selectAll()
      .where(column as 'id', '=', value);
    for (const [name, direction] of sorting)
      query = query.orderBy(name as 'id', direction as 'desc' | undefined);
    const rows: unknown = await query.execute();
    return rows as RowOf<Table>[];
  };
}

/** Reads the rows of an organization, newest first. */
export function rowsOfOrganization<Table extends TableOfOrganization>(table: Table) {
  // To the types, the table is one that has the columns of each.
  const rows: unknown = rowsWhere(table as 'credential', 'organization_id', 'created_at desc', 'id desc');
  return rows as (db: Connection, organizationId: string) => Promise<RowOf<Table>[]>;
}

/** Changes a row by its id. @returns the row as it is then */
export function updateById<Table extends TableWithId>(table: Table) {
  return async (tx: Connection, id: string, changes: Updateable<Schema[Table]>): Promise<RowOf<Table>> => {
    const row: unknown = await tx
      .updateTable(table as 'variable')
      .set(changes as Updateable<Schema['variable']>)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow();
    return row as RowOf<Table>;
  };
}

/** Deletes a row by its id. */
export function deleteById(table: TableWithId) {
  return async (tx: Connection, id: string): Promise<void> => {
    await tx
      .deleteFrom(table as 'variable')
      .where('id', '=', id)
      .execute();
  };
}

/** Finds the home of a row. @param columns of the home, besides the organization */
export function homeOf<Table extends TableWith<{ id: string; organization_id: string }>>(
  table: Table,
  ...columns: readonly (
    | Extract<keyof Schema[Table], 'project_id' | 'environment_id'>
    | 'id as project_id'
    | 'id as environment_id'
  )[]
): FindHome {
  return homeById((db, id) =>
    db
      .selectFrom(table as 'deployment')
      .select(['organization_id', ...(columns as readonly ('project_id' | 'environment_id')[])])
      .where('id', '=', id)
      .executeTakeFirst(),
  );
}
