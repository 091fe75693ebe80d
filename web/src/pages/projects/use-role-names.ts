/** Names of teams and of roles by their ids. */
import { useRead } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';

/** The teams of the organization; the service may answer them in one of two forms. */
export function useTeams() {
  const { organizationId } = useSession();
  const { data } = useRead('listTeams', {
    params: { organizationId },
    query: { limit: 1000, excludeFields: 'users' },
  });
  return (Array.isArray(data) ? data : data?.teams) ?? [];
}

export function useRoleNames() {
  const { organizationId } = useSession();
  const roles = useRead('listRoles', { query: { organizationId } });
  const teams = useTeams();
  return {
    teams: new Map(teams.map(({ id, name }) => [id, name])),
    roles: new Map((roles.data ?? []).map(({ id, name }) => [id, name])),
  };
}
