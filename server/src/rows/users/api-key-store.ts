/** SQL of API keys as what people manage; who uses one is found in `user-store.ts`. */
import type { Insertable, Selectable } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import { homeById } from '../entity-home.ts';
import { deleteById, lockById, rowById, rowsOfOrganization, updateById } from '../row-queries.ts';
import type { ApiKeyTable } from '../schema.ts';

export type ApiKeyRow = Selectable<ApiKeyTable>;

/** The user that a key of an organization is. */
export async function insertKeyUser(
  tx: Connection,
  user: { readonly id: string; readonly name: string; readonly createdBy: string },
): Promise<void> {
  await tx
    .insertInto('app_user')
    .values({ id: user.id, name: user.name, email: '', is_api_key: true, created_by: user.createdBy })
    .execute();
}

export async function renameKeyUser(tx: Connection, id: string, name: string, at: Date): Promise<void> {
  await tx.updateTable('app_user').set({ name, updated_at: at }).where('id', '=', id).execute();
}

/** No caller is identified as this user any more. */
export async function blockKeyUser(tx: Connection, id: string, at: Date): Promise<void> {
  await tx.updateTable('app_user').set({ is_blocked: true, updated_at: at }).where('id', '=', id).execute();
}

export async function insertApiKey(tx: Connection, values: Insertable<ApiKeyTable>): Promise<ApiKeyRow> {
  return tx.insertInto('api_key').values(values).returningAll().executeTakeFirstOrThrow();
}

export const listKeysOfOrganization = rowsOfOrganization('api_key');

/** Keys that act as a user and belong to no organization, newest first. */
export async function listKeysOfUser(db: Connection, userId: string): Promise<ApiKeyRow[]> {
  return db
    .selectFrom('api_key')
    .selectAll()
    .where('user_id', '=', userId)
    .where('organization_id', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
}

export const getApiKeyRow = rowById('api_key');

/** The key is locked until the transaction ends. */
export const lockApiKeyRow = lockById('api_key');

export const updateApiKeyRow = updateById('api_key');

export const deleteApiKeyRow = deleteById('api_key');

/** Home of a key of an organization; other keys belong only to their user. */
export const apiKeyHome = homeById(async (db, id) => {
  const row = await db
    .selectFrom('api_key')
    .select('organization_id')
    .where('id', '=', id)
    .executeTakeFirst();
  return row?.organization_id ? { organization_id: row.organization_id } : undefined;
});
