/** Roles of people in a project, and the projects above it in which they are assigned. */
import { Link } from '@tanstack/react-router';
import { type Reply, useRead } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { Person } from '../../records/person.tsx';
import { roleName } from '../../records/roles.ts';
import { useCustomRoles } from '../../records/use-custom-roles.ts';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { type CellRole, matrixOf } from './held-roles.ts';
import classes from './people.module.css';
import { teamsOf } from './team-lists.ts';

type Assignments = Reply<'listProjectPermissions'>;

interface Names {
  readonly role: (role: string) => string;
  readonly team: (id: string) => string;
  readonly project: (id: string) => string;
}

function useNames(): Names {
  const { organizationId } = useSession();
  const custom = useCustomRoles(organizationId);
  const projects = useRead('listProjects', { query: { organizationId } });
  const teams = useRead('listTeams', {
    params: { organizationId },
    query: { limit: 1000, excludeFields: 'users' },
  });
  return {
    role: (role) => roleName(role, custom),
    team: (id) => teamsOf(teams.data).find((team) => team.id === id)?.name ?? id,
    project: (id) => projects.data?.find((project) => project.id === id)?.name ?? id,
  };
}

function Cell({ roles, names }: { readonly roles: readonly CellRole[] | undefined; readonly names: Names }) {
  if (roles === undefined) return <span className={classes.none}>–</span>;
  return roles.map(({ role, teamId }) => (
    <span key={`${role}.${teamId}`} className={classes.source}>
      <bdi>{names.role(role)}</bdi>
      {teamId !== undefined && (
        <span className={classes.why}>
          {' '}
          by the team <bdi>{names.team(teamId)}</bdi>
        </span>
      )}
    </span>
  ));
}

interface MatrixTableProps {
  readonly projectId: string;
  /** From the top down to the project. */
  readonly path: readonly string[];
  readonly assignments: Assignments;
}

function Matrix({ projectId, path, assignments }: MatrixTableProps) {
  const { organizationId } = useSession();
  const names = useNames();
  const members = useRead('listMembers', { params: { id: organizationId } });
  const everywhere = (members.data ?? [])
    .filter(({ role }) => role !== 'User')
    .map(({ user, role }) => ({ userId: user.user_id ?? '', role, projectId: organizationId }));
  const rows = matrixOf([...everywhere, ...assignments]);
  const columns = [organizationId, ...path];
  const userOf = (id: string) =>
    members.data?.find(({ user }) => user.user_id === id)?.user ??
    assignments.find(({ userId }) => userId === id)?.user;
  return (
    <div className={classes.matrix} role="region" aria-label="Roles in the project" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Member</th>
            {columns.map((id) => (
              <th key={id} scope="col">
                <bdi>{id === organizationId ? 'Organization' : names.project(id)}</bdi>
                {id === projectId ? '' : ' (inherited)'}
              </th>
            ))}
            <th scope="col">Rights here</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ userId, cells }) => (
            <tr key={userId}>
              <th scope="row">
                <Person user={userOf(userId)} />
              </th>
              {columns.map((id) => (
                <td key={id}>
                  <Cell roles={cells[id]} names={names} />
                </td>
              ))}
              <td>
                <Link
                  to="/permissions"
                  search={{ tab: 'explain', user: userId, project: projectId } as never}
                >
                  Explain
                </Link>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function ProjectMatrix({ projectId }: { readonly projectId: string | undefined }) {
  const rights = useRights(projectId === undefined ? undefined : { projectId });
  const { organizationId } = useSession();
  const projects = useRead('listProjects', { query: { organizationId } });
  const roles = useRead(
    'listProjectPermissions',
    { params: { projectId: projectId ?? '' }, query: { includeInherited: true } },
    { enabled: projectId !== undefined },
  );
  if (projectId === undefined)
    return <EmptyState title="Choose a project">Its members and their roles are then shown here.</EmptyState>;
  const path = projects.data?.find(({ id }) => id === projectId)?.hierarchy.split('|') ?? [projectId];
  return (
    <>
      {rights.isKnown && !rights.has('EDIT_PROJECT_SETTINGS') && (
        <p>
          You see your own roles in projects only: those of others need the right EDIT_PROJECT_SETTINGS here.
        </p>
      )}
      <Loaded query={roles}>
        {(assignments) => <Matrix projectId={projectId} path={path} assignments={assignments} />}
      </Loaded>
    </>
  );
}
