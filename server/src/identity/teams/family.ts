/** Teams of people and keys. */
import type { Family } from '../../framework/family.ts';
import { teamHome } from '../../rows/teams/team-store.ts';
import { lockTeam } from './change-team.ts';
import { teamRoutes } from './team-routes.ts';

export const family: Family = {
  name: 'teams',
  routes: teamRoutes,
  entities: { team: teamHome },
  locks: { team: lockTeam },
  tables: ['team', 'team_member'],
};
