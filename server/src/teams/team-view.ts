/** Teams as the interface answers them. */
import type { Team } from '#contract/teams/shapes.ts';
import type { Connection } from '../context.ts';
import { getUsers } from '../users/user-store.ts';
import { userOf } from '../users/user-view.ts';
import { membersOfTeams, type TeamRow } from './team-store.ts';

/**
 * Views of several teams, in their order.
 * @param hasMembers false: without `users`, which are then not read
 */
export async function teamViews(
  db: Connection,
  rows: readonly TeamRow[],
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
  return rows.map((row) => ({
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    description: row.description,
    ...(hasMembers ? { users: (members.get(row.id) ?? []).map((id) => userOf(users, id)) } : {}),
    createdByUser: userOf(users, row.created_by),
    isDefaultTeam: row.is_default,
  }));
}

export async function teamView(db: Connection, row: TeamRow): Promise<Team> {
  const [only] = await teamViews(db, [row]);
  return only as Team;
}
