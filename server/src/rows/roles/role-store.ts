/** SQL of custom roles and of the roles that users and teams are assigned. */
import type { Insertable, Selectable } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import { deleteById, homeOf, rowById, rowsByIds, rowsOfOrganization, updateById } from '../row-queries.ts';
import type { RoleTable } from '../schema.ts';
import { teamIdsOf } from '../teams/team-store.ts';

/** A role somewhere. */
export interface HeldRoleRow {
  readonly organization_id: string;
  /** Null, like the environment: in the organization. */
  readonly project_id: string | null;
  readonly environment_id: string | null;
  /** Null: the user's own. */
  readonly team_id: string | null;
  readonly role: string;
  /** Of a custom role; null: the role is built in. */
  readonly permissions: string[] | null;
}

/** The roles that a user was assigned, not counting those of a member: alone, and by the teams that it belongs to. */
export async function assignedRolesOf(db: Connection, userId: string): Promise<HeldRoleRow[]> {
  return db
    .selectFrom('role_assignment as assigned')
    .leftJoin('role', 'role.id', 'assigned.role_id')
    .select([
      'assigned.organization_id',
      'assigned.project_id',
      'assigned.environment_id',
      'assigned.team_id',
      'assigned.role',
      'role.permissions',
    ])
    .where((eb) =>
      eb.or([eb('assigned.user_id', '=', userId), eb('assigned.team_id', 'in', teamIdsOf(db, userId))]),
    )
    .execute();
}

/** The rights of custom roles, by the role's id; other texts are not looked up. */
export async function permissionsOf(
  db: Connection,
  ids: readonly string[],
): Promise<ReadonlyMap<string, { readonly organizationId: string; readonly permissions: string[] }>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('role')
    .select(['id', 'organization_id', 'permissions'])
    .where('id', 'in', [...ids])
    .execute();
  return new Map(
    rows.map((row) => [row.id, { organizationId: row.organization_id, permissions: row.permissions }]),
  );
}

export type RoleRow = Selectable<RoleTable>;

export const listRoleRows = rowsOfOrganization('role');

export const getRoleRows = rowsByIds('role');

export const getRoleRow = rowById('role');

export async function insertRoleRow(tx: Connection, values: Insertable<RoleTable>): Promise<RoleRow> {
  return tx.insertInto('role').values(values).returningAll().executeTakeFirstOrThrow();
}

export const updateRoleRow = updateById('role');

/** No role of the organization is the default one any more, except for this one. */
export async function clearDefaultRole(
  tx: Connection,
  organizationId: string,
  except: string,
): Promise<void> {
  await tx
    .updateTable('role')
    .set({ is_default: false })
    .where('organization_id', '=', organizationId)
    .where('is_default', '=', true)
    .where('id', '<>', except)
    .execute();
}

export const deleteRoleRow = deleteById('role');

/** Default role of new members of an organization: the id of a custom role, or User. */
export async function defaultRoleOf(db: Connection, organizationId: string): Promise<string> {
  const row = await db
    .selectFrom('role')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('is_default', '=', true)
    .executeTakeFirst();
  return row?.id ?? 'User';
}

/** Home of a custom role. */
export const roleHome = homeOf('role');
