/** SQL of teams and their members. */
import type { Connection } from '../context.ts';

/** The teams that a user is a member of: ids, as a part of other statements. */
export function teamIdsOf(db: Connection, userId: string) {
  return db.selectFrom('team_member').select('team_id').where('user_id', '=', userId);
}

/** Takes a user out of all teams of an organization. */
export async function leaveTeams(tx: Connection, organizationId: string, userId: string): Promise<void> {
  await tx
    .deleteFrom('team_member')
    .where('user_id', '=', userId)
    .where('team_id', 'in', (eb) =>
      eb.selectFrom('team').select('id').where('organization_id', '=', organizationId),
    )
    .execute();
}
