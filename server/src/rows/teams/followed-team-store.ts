/** SQL of memberships in teams that follow what another system says. */
import type { Connection } from '../../framework/context.ts';

/** A team by its name; undefined where the organization has no such team. */
export async function findTeamNamed(
  db: Connection,
  organizationId: string,
  name: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('team')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('name', '=', name)
    .executeTakeFirst();
  return row?.id;
}

/** A team, and where it is. */
export interface FollowedTeam {
  readonly id: string;
  readonly organizationId: string;
}

/** The teams that a user belongs to because of one source. */
export async function followedTeams(db: Connection, userId: string, source: string): Promise<FollowedTeam[]> {
  return db
    .selectFrom('team_member')
    .innerJoin('team', 'team.id', 'team_member.team_id')
    .select(['team.id', 'team.organization_id as organizationId'])
    .where('user_id', '=', userId)
    .where('source', '=', source)
    .orderBy('team.id')
    .execute();
}

/** Ends a membership that came from a source. */
export async function unfollowTeam(
  tx: Connection,
  userId: string,
  source: string,
  teamId: string,
): Promise<void> {
  await tx
    .deleteFrom('team_member')
    .where('user_id', '=', userId)
    .where('source', '=', source)
    .where('team_id', '=', teamId)
    .execute();
}

/** @returns whether the user was not in the team before, from wherever */
export async function followTeam(
  tx: Connection,
  userId: string,
  source: string,
  teamId: string,
): Promise<boolean> {
  const joined = await tx
    .insertInto('team_member')
    .values({ team_id: teamId, user_id: userId, source })
    .onConflict((conflict) => conflict.doNothing())
    .returning('team_id')
    .executeTakeFirst();
  return joined !== undefined;
}
