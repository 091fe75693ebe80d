/** The roles that are assigned in a place: to users and to teams. */
import { Button, Group } from '@mantine/core';
import { useState } from 'react';
import { useRead } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { nameOfUser } from '../../records/person.tsx';
import { Removal } from '../../records/Removal.tsx';
import { roleName } from '../../records/roles.ts';
import { useCustomRoles } from '../../records/use-custom-roles.ts';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { callOf } from '../../ui/calls.ts';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { AssignDialog, type RoleAssignmentEntry } from './AssignDialog.tsx';
import { concerned } from './held-roles.ts';
import { type ChosenPlace, useChosenPlace } from './place.tsx';
import { teamsOf } from './team-lists.ts';

const needed = {
  organization: 'EDIT_ORGANIZATION_SETTINGS',
  project: 'EDIT_PROJECT_SETTINGS',
  environment: 'ASSIGN_ROLE_ON_ENVIRONMENT',
} as const;

function useRows({ place }: ChosenPlace, isAllowed: boolean) {
  const { organizationId } = useSession();
  const users = useRead('listUserRoles', { query: place }, { enabled: isAllowed });
  const teams = useRead('listTeamRoles', { query: place }, { enabled: isAllowed });
  const members = useRead('listMembers', { params: { id: organizationId } });
  const allTeams = useRead('listTeams', {
    params: { organizationId },
    query: { limit: 1000, excludeFields: 'users' },
  });
  const userOf = (id: string) => members.data?.find(({ user }) => user.user_id === id)?.user;
  const rows: RoleAssignmentEntry[] = [
    ...(teams.data ?? []).map(({ teamId, role }) => ({
      kind: 'team' as const,
      id: teamId,
      name: teamsOf(allTeams.data).find(({ id }) => id === teamId)?.name ?? teamId,
      role,
    })),
    ...(users.data ?? []).map(({ userId, role, user }) => ({
      kind: 'user' as const,
      id: userId,
      name: nameOfUser(user ?? userOf(userId)),
      role,
    })),
  ];
  return { users, rows };
}

function RemoveRole({ row, chosen }: { readonly row: RoleAssignmentEntry; readonly chosen: ChosenPlace }) {
  const common = {
    refreshes: concerned,
    label: 'Remove',
    question: `Remove the role of ${row.name}?`,
    done: 'The role was removed',
  };
  const text = <p>It ends with the next request. Roles above this place and by teams remain.</p>;
  return row.kind === 'team' ? (
    <Removal operation="removeTeamRole" input={{ query: { teamId: row.id, ...chosen.place } }} {...common}>
      {text}
    </Removal>
  ) : (
    <Removal operation="removeUserRole" input={{ query: { userId: row.id, ...chosen.place } }} {...common}>
      {text}
    </Removal>
  );
}

interface AssignmentTableProps {
  readonly rows: readonly RoleAssignmentEntry[];
  readonly chosen: ChosenPlace;
  readonly onChange: (row: RoleAssignmentEntry) => void;
}

function Table({ rows, chosen, onChange }: AssignmentTableProps) {
  const { organizationId } = useSession();
  const custom = useCustomRoles(organizationId);
  const columns: readonly Column<RoleAssignmentEntry>[] = [
    { id: 'name', head: 'Who', cell: ({ name }) => <bdi>{name}</bdi> },
    { id: 'kind', head: 'Kind', isMinor: true, cell: ({ kind }) => (kind === 'team' ? 'Team' : 'User') },
    { id: 'role', head: 'Role', cell: ({ role }) => <bdi>{roleName(role, custom)}</bdi> },
    {
      id: 'do',
      head: '',
      cell: (row) => (
        <Group gap="xs" justify="flex-end" wrap="nowrap">
          <Button size="xs" variant="default" onClick={() => onChange(row)}>
            Change
          </Button>
          <RemoveRole row={row} chosen={chosen} />
        </Group>
      ),
    },
  ];
  return (
    <DataTable label="Assignments" columns={columns} rows={rows} idOf={({ kind, id }) => `${kind}.${id}`} />
  );
}

export function Assignments() {
  const chosen = useChosenPlace();
  const { me } = useSession();
  const rights = useRights(chosen.place);
  const whyNot = rights.whyNot(needed[chosen.scope]);
  const { users, rows } = useRows(chosen, rights.isKnown && whyNot === undefined);
  const [assigning, setAssigning] = useState<Partial<RoleAssignmentEntry>>();
  const button = (
    <ActionButton size="xs" whyNot={whyNot} onClick={() => setAssigning({ kind: 'user' })}>
      Assign a role
    </ActionButton>
  );
  if (rights.isKnown && whyNot !== undefined)
    return <EmptyState title="You cannot see the assignments here">{whyNot}</EmptyState>;
  const call = callOf(
    'Assign a role',
    'assignUserRole',
    { body: { userId: me.user.user_id ?? '', role: 'Admin', ...chosen.place } },
    ['role', 'assign', 'Admin', '--user', me.user.email ?? '', ...chosen.words],
  );
  return (
    <>
      <Group justify="space-between" mb="sm">
        <span>Roles that are assigned in this very place, without those that are inherited.</span>
        {button}
      </Group>
      <Loaded query={users}>
        {() =>
          rows.length === 0 ? (
            <EmptyState title="No role is assigned here" call={call} action={button}>
              Roles from above this place hold here, too.
            </EmptyState>
          ) : (
            <Table rows={rows} chosen={chosen} onChange={setAssigning} />
          )
        }
      </Loaded>
      {assigning && (
        <AssignDialog chosen={chosen} begin={assigning} onClose={() => setAssigning(undefined)} />
      )}
    </>
  );
}
