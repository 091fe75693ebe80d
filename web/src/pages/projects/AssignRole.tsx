/** Gives a user or a team a role in a project. */
import { Group, Select } from '@mantine/core';
import { useState } from 'react';
import type { OperationName } from '#contract/operations.ts';
import type { Project } from '#contract/projects/shapes.ts';
import { builtInRoles } from '#contract/schema/built-in-roles.ts';
import { showDone } from '../../api/messages.ts';
import { useChange, useRead } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { useTeams } from './use-role-names.ts';

export interface AssignRoleProps {
  readonly project: Project;
  readonly refreshes: readonly OperationName[];
}

const builtIn = Object.keys(builtInRoles.project);

/** Users and teams, distinguished by the beginning of their value. */
function useHolders() {
  const { organizationId } = useSession();
  const members = useRead('listMembers', { params: { id: organizationId } });
  const teams = useTeams();
  return [
    { group: 'Teams', items: teams.map(({ id, name }) => ({ value: `team ${id}`, label: name })) },
    {
      group: 'Users',
      items: (members.data ?? []).map(({ user }) => ({
        value: `user ${user.user_id ?? ''}`,
        label: [user.name, user.email].filter(Boolean).join(' · ') || (user.user_id ?? ''),
      })),
    },
  ].filter(({ items }) => items.length > 0);
}

function useRoles() {
  const { organizationId } = useSession();
  const roles = useRead('listRoles', { query: { organizationId } });
  return [
    ...builtIn.map((name) => ({ value: name, label: name })),
    ...(roles.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
  ];
}

export function AssignRole({ project, refreshes }: AssignRoleProps) {
  const [who, setWho] = useState<string | null>(null);
  const [role, setRole] = useState<string | null>('Viewer');
  const options = {
    refreshes,
    onSuccess: () => {
      showDone('The role was assigned');
      setWho(null);
    },
  };
  const toUser = useChange('assignUserRole', options);
  const toTeam = useChange('assignTeamRole', options);
  const assign = () => {
    const [kind, id = ''] = (who ?? '').split(' ');
    const rest = { role: role ?? '', projectId: project.id };
    if (kind === 'team') toTeam.mutate({ body: { teamId: id, ...rest } });
    else toUser.mutate({ body: { userId: id, ...rest } });
  };
  return (
    <Group align="end" mb="md" gap="xs">
      <Select
        label="User or team"
        placeholder="Choose one"
        data={useHolders()}
        value={who}
        onChange={setWho}
        searchable
        nothingFoundMessage="No matching people"
        w={280}
      />
      <Select label="Role" data={useRoles()} value={role} onChange={setRole} allowDeselect={false} />
      <ActionButton
        whyNot={who === null ? 'Choose a user or a team first.' : undefined}
        loading={toUser.isPending || toTeam.isPending}
        onClick={assign}
      >
        Assign
      </ActionButton>
    </Group>
  );
}
