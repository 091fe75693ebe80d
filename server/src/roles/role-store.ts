/** SQL of custom roles and of the roles that users and teams are assigned. */
import type { Connection } from '../context.ts';
import { teamIdsOf } from '../teams/team-store.ts';

/** A role somewhere. */
export interface HeldRoleRow {
  readonly organization_id: string;
  /** Null, like the environment: in the organization. */
  readonly project_id: string | null;
  readonly environment_id: string | null;
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
