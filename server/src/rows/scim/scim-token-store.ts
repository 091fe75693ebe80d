/** SQL of the tokens of identity providers. */
import type { Insertable, Selectable } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import { rowById, rowsOfOrganization } from '../row-queries.ts';
import type { ScimTokenTable } from '../schema.ts';

export type ScimTokenRow = Selectable<ScimTokenTable>;

export const listTokenRows = rowsOfOrganization('scim_token');

export const getTokenRow = rowById('scim_token');

export async function insertTokenRow(
  tx: Connection,
  values: Insertable<ScimTokenTable>,
): Promise<ScimTokenRow> {
  return tx.insertInto('scim_token').values(values).returningAll().executeTakeFirstOrThrow();
}

/** @returns whether the organization had this token */
export async function deleteTokenRow(tx: Connection, organizationId: string, id: string): Promise<boolean> {
  const row = await tx
    .deleteFrom('scim_token')
    .where('id', '=', id)
    .where('organization_id', '=', organizationId)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

export async function storeTokenUse(db: Connection, id: string, at: Date): Promise<void> {
  await db.updateTable('scim_token').set({ last_used_at: at }).where('id', '=', id).execute();
}
