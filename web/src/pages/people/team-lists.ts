/** Pages of teams, in either form that the service may answer. */
import type { Reply } from '../../api/queries.ts';

export type TeamReply = Reply<'getTeam'>;

/** The teams of a page; none while it is read. */
export function teamsOf(page: Reply<'listTeams'> | undefined): readonly TeamReply[] {
  if (page === undefined) return [];
  return Array.isArray(page) ? page : page.teams;
}
