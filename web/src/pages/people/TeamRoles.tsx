/** The role of a team in the organization. */
import { Group } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { showDone } from '../../api/messages.ts';
import { useChange, useRead } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { FormAlert } from '../../forms/FormAlert.tsx';
import { RoleSelect } from '../../records/choosers.tsx';
import { Part } from '../../records/Part.tsx';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { Loaded } from '../../ui/Loaded.tsx';

interface TeamRoleFormProps {
  readonly teamId: string;
  readonly organizationId: string;
  readonly current: string | undefined;
}

const concerned = ['listTeamRoles', 'explainPermissions'] as const;

function RoleForm({ teamId, organizationId, current }: TeamRoleFormProps) {
  const [role, setRole] = useState(current ?? null);
  const done = () => showDone('The role of the team was changed');
  const assign = useChange('assignTeamRole', { refreshes: concerned, onSuccess: done, onError: () => true });
  const remove = useChange('removeTeamRole', { refreshes: concerned, onSuccess: done, onError: () => true });
  const save = () =>
    role === null
      ? remove.mutate({ query: { teamId, organizationId } })
      : assign.mutate({ body: { teamId, organizationId, role } });
  return (
    <>
      <FormAlert mb="md" error={assign.error ?? remove.error} />
      <Group align="end">
        <RoleSelect
          scope="organization"
          label="Role"
          placeholder="None"
          allowDeselect
          clearable
          value={role}
          onChange={setRole}
        />
        <ActionButton
          variant="default"
          loading={assign.isPending || remove.isPending}
          whyNot={role === (current ?? null) ? 'Choose another role first.' : undefined}
          onClick={save}
        >
          Change
        </ActionButton>
      </Group>
    </>
  );
}

export function TeamRoles({ teamId, organizationId }: Omit<TeamRoleFormProps, 'current'>) {
  const rights = useRights({ organizationId });
  const isAllowed = rights.has('EDIT_ORGANIZATION_SETTINGS');
  const roles = useRead('listTeamRoles', { query: { organizationId } }, { enabled: isAllowed });
  return (
    <Part
      title="Role in the organization"
      lead={
        <>
          Its roles in projects and environments are under{' '}
          <Link to="/permissions" search={{ tab: 'assignments' } as never}>
            Permissions
          </Link>
          .
        </>
      }
    >
      {isAllowed ? (
        <Loaded query={roles} lines={2}>
          {(all) => {
            const current = all.find((each) => each.teamId === teamId)?.role;
            return (
              <RoleForm key={current} teamId={teamId} organizationId={organizationId} current={current} />
            );
          }}
        </Loaded>
      ) : (
        <p>{rights.whyNot('EDIT_ORGANIZATION_SETTINGS')}</p>
      )}
    </Part>
  );
}
