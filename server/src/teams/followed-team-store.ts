/** SQL of memberships in teams that follow what another system says. */
import type { Connection } from '../context.ts';

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

/**
 * Brings the memberships that came from one source in step with it; those that somebody else made are left
 * alone.
 * @param source as it is stored with each
 * @param teamIds the only teams that the user belongs to because of the source
 */
export async function followTeams(
  tx: Connection,
  userId: string,
  source: string,
  teamIds: readonly string[],
): Promise<void> {
  await tx
    .deleteFrom('team_member')
    .where('user_id', '=', userId)
    .where('source', '=', source)
    .$if(teamIds.length > 0, (query) => query.where('team_id', 'not in', [...teamIds]))
    .execute();
  if (teamIds.length > 0)
    await tx
      .insertInto('team_member')
      .values(teamIds.map((team_id) => ({ team_id, user_id: userId, source })))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
}
