/** Whether a name is free in an organization, for tables whose rows have one each. */
import type { Connection } from '../../framework/context.ts';

type NamedTable = 'team' | 'role';

/** Whether the organization has another row of this name in `table`. */
export async function isNameTaken(
  db: Connection,
  table: NamedTable,
  row: { readonly id: string; readonly organization_id: string; readonly name: string },
): Promise<boolean> {
  const other = await db
    .selectFrom(table)
    .select('id')
    .where('organization_id', '=', row.organization_id)
    .where('name', '=', row.name)
    .where('id', '<>', row.id)
    .executeTakeFirst();
  return other !== undefined;
}
