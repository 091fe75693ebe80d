/** SQL of teams and their members. */
import type { Connection } from '../context.ts';

/** The teams that a user is a member of: ids, as a part of other statements. */
export function teamIdsOf(db: Connection, userId: string) {
  return db.selectFrom('team_member').select('team_id').where('user_id', '=', userId);
}
