/** Assignments of roles as the interface answers them. */
import type { RoleAssignment, TeamAssignment, TeamRoleAssignment } from '#contract/roles/shapes.ts';
import type { Connection } from '../../framework/context.ts';
import type { MembershipRow } from '../../rows/organizations/membership-store.ts';
import type { RoleAssignmentRow } from '../../rows/roles/assignment-store.ts';
import { getUsers, type UserRow } from '../../rows/users/user-store.ts';
import { userOf } from '../../tenancy/users/user-view.ts';

/** An assignment as it holds for one user. */
export interface UserAssignment {
  readonly row: RoleAssignmentRow;
  readonly userId: string;
  readonly isProjectArchived: boolean;
}

function placeView({ project_id, environment_id }: RoleAssignmentRow) {
  return {
    ...(project_id === null ? {} : { projectId: project_id }),
    ...(environment_id === null ? {} : { environmentId: environment_id }),
  };
}

function view(
  { row, userId, isProjectArchived }: UserAssignment,
  users: ReadonlyMap<string, UserRow>,
): RoleAssignment {
  return {
    id: row.id,
    organizationId: row.organization_id,
    isProjectArchived,
    userId,
    role: row.role,
    ...placeView(row),
    ...(row.team_id === null ? {} : { teamId: row.team_id }),
    user: userOf(users, userId),
  };
}

export async function userAssignmentViews(
  db: Connection,
  assignments: readonly UserAssignment[],
): Promise<RoleAssignment[]> {
  const users = await getUsers(
    db,
    assignments.map(({ userId }) => userId),
  );
  return assignments.map((each) => view(each, users));
}

/** The roles of members in an organization. */
export async function memberViews(db: Connection, rows: readonly MembershipRow[]): Promise<RoleAssignment[]> {
  const users = await getUsers(
    db,
    rows.map((row) => row.user_id),
  );
  return rows.map((row) => ({
    id: row.id,
    organizationId: row.organization_id,
    isProjectArchived: false,
    userId: row.user_id,
    role: row.role,
    user: userOf(users, row.user_id),
  }));
}

export function teamAssignmentView(row: RoleAssignmentRow): TeamRoleAssignment {
  return {
    id: row.id,
    teamId: row.team_id ?? '',
    role: row.role,
    organizationId: row.organization_id,
    ...placeView(row),
  };
}

/** In the older form, which names the project or the organization. */
export function olderTeamAssignmentView(row: RoleAssignmentRow): TeamAssignment {
  return {
    id: row.id,
    teamId: row.team_id ?? '',
    projectRole: row.role,
    ...(row.project_id === null ? { organizationId: row.organization_id } : { projectId: row.project_id }),
  };
}
