/**
 * The roles that a user holds, each where it was assigned: everything that gives rights. What a caller may do
 * (`load-access.ts`) and the explanation of it (`roles/explain-permissions.ts`) are both made from these.
 */
import type { RoleScope } from '#contract/schema/built-in-roles.ts';
import { isUuid } from '../../rows/entity-home.ts';
import { membershipsOf } from '../../rows/organizations/organization-store.ts';
import { assignedRolesOf, type HeldRoleRow, permissionsOf } from '../../rows/roles/role-store.ts';
import type { Connection } from '../context.ts';
import type { RoleGrant } from './access.ts';
import { rightsOfRole } from './role-rights.ts';

/** One role in the place where the user or one of its teams has it. */
export interface RoleInPlace extends RoleGrant {
  readonly organizationId: string;
  readonly scope: RoleScope;
  /** Of the organization, the project or the environment. */
  readonly scopeId: string;
  /** The team that gives it; null: the user's own. */
  readonly teamId: string | null;
}

/** Organizations and teams of a user, and the roles in them. */
export interface HeldRoles {
  readonly organizationIds: readonly string[];
  /** The role of a member comes before the others in its organization. */
  readonly roles: readonly RoleInPlace[];
}

/** Roles in organizations that the user is not an active member of give nothing and are left out. */
export async function rolesHeldBy(db: Connection, userId: string): Promise<HeldRoles> {
  const [memberships, assigned] = await Promise.all([membershipsOf(db, userId), assignedRolesOf(db, userId)]);
  const custom = await permissionsOf(
    db,
    memberships.map(({ role }) => role).filter((role) => isUuid(role)),
  );
  const asMember = memberships.map(({ organization_id: organizationId, role }): RoleInPlace => {
    const own = custom.get(role);
    const permissions =
      own === undefined ? null : own.organizationId === organizationId ? own.permissions : [];
    const rights = rightsOfRole('organization', role, permissions);
    return { organizationId, scope: 'organization', scopeId: organizationId, role, rights, teamId: null };
  });
  const organizationIds = memberships.map((row) => row.organization_id);
  const isMember = new Set(organizationIds);
  const others = assigned.filter((row) => isMember.has(row.organization_id)).map(assignedRole);
  return { organizationIds, roles: [...asMember, ...others] };
}

function assignedRole(row: HeldRoleRow): RoleInPlace {
  const [scope, scopeId]: [RoleScope, string] =
    row.environment_id !== null
      ? ['environment', row.environment_id]
      : row.project_id !== null
        ? ['project', row.project_id]
        : ['organization', row.organization_id];
  const { organization_id: organizationId, role, permissions, team_id: teamId } = row;
  return { organizationId, scope, scopeId, role, rights: rightsOfRole(scope, role, permissions), teamId };
}
