/** SQL of what identity providers say about members and teams. */
import type { Insertable, Selectable } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import type { ScimUserTable } from '../schema.ts';

export type ScimUserRow = Selectable<ScimUserTable>;

/** By user. Members that no provider has touched have none. */
export async function scimUsersOf(
  db: Connection,
  organizationId: string,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, ScimUserRow>> {
  if (userIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('scim_user')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('user_id', 'in', [...userIds])
    .execute();
  return new Map(rows.map((row) => [row.user_id, row]));
}

/** Users with an id of the provider. */
export async function usersWithExternalId(
  db: Connection,
  organizationId: string,
  externalId: string,
): Promise<string[]> {
  const rows = await db
    .selectFrom('scim_user')
    .select('user_id')
    .where('organization_id', '=', organizationId)
    .where('external_id', '=', externalId)
    .orderBy('user_id')
    .execute();
  return rows.map((row) => row.user_id);
}

/** Stores a row, or replaces what it says about the person. */
export async function putScimUser(tx: Connection, row: Insertable<ScimUserTable>): Promise<void> {
  const { external_id, attributes, updated_at } = row;
  await tx
    .insertInto('scim_user')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['organization_id', 'user_id']).doUpdateSet({ external_id, attributes, updated_at }),
    )
    .execute();
}

/** Ids of the provider by team; teams without one are missing. */
export async function externalIdsOfTeams(
  db: Connection,
  teamIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (teamIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('scim_group')
    .selectAll()
    .where('team_id', 'in', [...teamIds])
    .execute();
  return new Map(rows.flatMap((row) => (row.external_id === null ? [] : [[row.team_id, row.external_id]])));
}

export async function putScimGroup(
  tx: Connection,
  row: { readonly team_id: string; readonly external_id: string | null },
): Promise<void> {
  const { external_id } = row;
  await tx
    .insertInto('scim_group')
    .values(row)
    .onConflict((conflict) => conflict.column('team_id').doUpdateSet({ external_id }))
    .execute();
}
