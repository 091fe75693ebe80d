/** Teams as the interface answers them. */
import type { Team } from '#contract/teams/shapes.ts';
import type { User } from '#contract/users/shapes.ts';
import type { Connection } from '../../framework/context.ts';
import { membersOfTeams, type ShownTeamRow } from '../../rows/teams/team-store.ts';
import { getUsers } from '../../rows/users/user-store.ts';
import { userOf } from '../../tenancy/users/user-view.ts';

/**
 * Views of several teams, in their order.
 * @param hasMembers false: without `users`, which are then not read
 */
export async function teamViews(
  db: Connection,
  rows: readonly ShownTeamRow[],
  hasMembers = true,
): Promise<Team[]> {
  const members = hasMembers
    ? await membersOfTeams(
        db,
        rows.map(({ id }) => id),
      )
    : new Map<string, readonly string[]>();
  const users = await getUsers(db, [
    ...rows.map((row) => row.created_by),
    ...[...members.values()].flatMap((ids) => ids),
  ]);
  // Each user is made once: most are in many teams.
  const views = new Map<string, User>();
  const viewOf = (id: string): User => {
    const view = views.get(id) ?? userOf(users, id);
    views.set(id, view);
    return view;
  };
  return rows.map((row) => ({
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    description: row.description,
    ...(hasMembers ? { users: (members.get(row.id) ?? []).map(viewOf) } : {}),
    createdByUser: viewOf(row.created_by),
    isDefaultTeam: row.is_default,
  }));
}

export async function teamView(db: Connection, row: ShownTeamRow): Promise<Team> {
  const [only] = await teamViews(db, [row]);
  return only as Team;
}
