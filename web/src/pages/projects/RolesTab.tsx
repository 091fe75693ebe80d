/** Access to a project: roles of users and teams, assigned here and further up. */

import { Link } from '@tanstack/react-router';
import type { Project } from '#contract/projects/shapes.ts';
import { useChange, useRead } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { useProjects } from '../../forms/ProjectSelect.tsx';
import { pathOf } from '../../forms/project-tree.ts';
import records from '../../records/records.module.css';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { callOf } from '../../ui/calls.ts';
import { DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { AssignRole } from './AssignRole.tsx';
import { type Assignee, holdersOf } from './holders.ts';
import classes from './projects.module.css';
import { useRoleNames } from './use-role-names.ts';

const refreshes = ['listProjectPermissions', 'listTeamRoles', 'listUserRoles', 'explainPermissions'] as const;

interface HolderProps {
  readonly holder: Assignee;
  readonly project: Project;
}

function Remove({ holder, project }: HolderProps) {
  const rights = useRights({ projectId: project.id });
  const fromUser = useChange('removeUserRole', { refreshes });
  const fromTeam = useChange('removeTeamRole', { refreshes });
  const projectId = project.id;
  const elsewhere =
    holder.viaTeam !== undefined
      ? `It comes from the team ${holder.viaTeam}: change the role of the team.`
      : 'It was assigned further up: remove it there.';
  return (
    <ActionButton
      size="compact-xs"
      variant="subtle"
      color="red"
      aria-label={`Remove the role of ${holder.name}`}
      whyNot={
        holder.isHere && holder.viaTeam === undefined ? rights.whyNot('EDIT_PROJECT_SETTINGS') : elsewhere
      }
      loading={fromUser.isPending || fromTeam.isPending}
      onClick={() =>
        holder.kind === 'team'
          ? fromTeam.mutate({ query: { teamId: holder.id, projectId } })
          : fromUser.mutate({ query: { userId: holder.id, projectId } })
      }
    >
      Remove
    </ActionButton>
  );
}

/** Place of the role's assignment. */
function From({ holder, project }: HolderProps) {
  const { projects } = useProjects(true);
  const place =
    holder.projectId === undefined || holder.projectId === project.id ? (
      'this project'
    ) : (
      <Link to="/projects/$projectId" params={{ projectId: holder.projectId }} search={{ tab: 'roles' }}>
        <bdi>{pathOf(projects, holder.projectId) || holder.projectId}</bdi>
      </Link>
    );
  return (
    <>
      {place}
      {holder.viaTeam !== undefined && (
        <div className={records.faint}>
          by the team <bdi>{holder.viaTeam}</bdi>
        </div>
      )}
    </>
  );
}

function NoRoles({ project }: { readonly project: Project }) {
  const { me } = useSession();
  const userId = me.user.user_id ?? '{userId}';
  return (
    <EmptyState
      title="No roles are assigned in this project itself"
      call={callOf(
        'Assign a role',
        'assignUserRole',
        { body: { userId, role: 'Deployer', projectId: project.id } },
        ['role', 'assign', 'Deployer', '--user', userId, '--project', project.id],
      )}
    >
      Administrators of the organization may do everything here.
    </EmptyState>
  );
}

export default function RolesTab({ project }: { readonly project: Project }) {
  const rights = useRights({ projectId: project.id });
  const mayAll = rights.has('EDIT_PROJECT_SETTINGS');
  const users = useRead('listProjectPermissions', {
    params: { projectId: project.id },
    query: { includeInherited: true },
  });
  const teams = useRead('listTeamRoles', { query: { projectId: project.id } }, { enabled: mayAll });
  const names = useRoleNames();
  return (
    <>
      <p className={classes.note}>
        A role in a project holds in everything below it. Roles in the organization are on the page of users.{' '}
        {!mayAll && rights.isKnown && 'You can only see your own roles.'}
      </p>
      {mayAll && <AssignRole project={project} refreshes={refreshes} />}
      <Loaded query={users}>
        {(assignments) => {
          const rows = holdersOf(assignments, teams.data ?? [], names.teams, project.id);
          if (rows.length === 0) return <NoRoles project={project} />;
          return (
            <DataTable
              label="Roles in this project"
              rows={rows}
              idOf={({ key }) => key}
              columns={[
                {
                  id: 'who',
                  head: 'Who',
                  cell: ({ name, kind, detail }) => (
                    <>
                      <bdi className={records.name}>{name}</bdi> {kind === 'team' && <span>(team)</span>}
                      {detail && <div className={records.faint}>{detail}</div>}
                    </>
                  ),
                },
                { id: 'role', head: 'Role', cell: ({ role }) => <bdi>{names.roles.get(role) ?? role}</bdi> },
                {
                  id: 'from',
                  head: 'Assigned in',
                  cell: (holder) => <From holder={holder} project={project} />,
                },
                { id: 'remove', head: '', cell: (holder) => <Remove holder={holder} project={project} /> },
              ]}
            />
          );
        }}
      </Loaded>
    </>
  );
}
