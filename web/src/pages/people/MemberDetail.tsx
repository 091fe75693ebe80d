/** One member: the role in the organization, teams, and removal. */
import { Button, Group } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { showDone } from '../../api/messages.ts';
import { useChange, useRead } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { Status } from '../../design/status.tsx';
import { FormAlert } from '../../forms/FormAlert.tsx';
import { RoleSelect } from '../../records/choosers.tsx';
import { Detail } from '../../records/Detail.tsx';
import { Part } from '../../records/Part.tsx';
import { nameOfUser } from '../../records/person.tsx';
import { Removal } from '../../records/Removal.tsx';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { Facts } from '../../ui/Facts.tsx';
import { TimeAgo } from '../../ui/Time.tsx';
import { type ListedMember, memberLooks } from './members.ts';
import { teamsOf } from './team-lists.ts';

export interface MemberDetailProps {
  readonly member: ListedMember;
  readonly organizationId: string;
  readonly onClose: () => void;
}

function RoleForm({ member, organizationId }: Omit<MemberDetailProps, 'onClose'>) {
  const [role, setRole] = useState(member.role);
  const rights = useRights({ organizationId });
  const change = useChange('setMemberRole', {
    refreshes: ['listMembers', 'explainPermissions', 'getCurrentUser'],
    onSuccess: () => showDone('The role was changed'),
    onError: () => true,
  });
  const whyNot =
    rights.whyNot('EDIT_ORGANIZATION_SETTINGS') ??
    (role === member.role ? 'Choose another role first.' : undefined);
  return (
    <>
      <FormAlert mb="md" error={change.error} />
      <Group align="end">
        <RoleSelect
          scope="organization"
          label="Role"
          value={role}
          onChange={(next) => setRole(next ?? member.role)}
        />
        <ActionButton
          whyNot={whyNot}
          loading={change.isPending}
          onClick={() =>
            change.mutate({ params: { id: organizationId, userId: member.user.user_id ?? '' }, body: role })
          }
        >
          Change
        </ActionButton>
      </Group>
    </>
  );
}

function MemberFacts({ member: { user, status }, organizationId }: Omit<MemberDetailProps, 'onClose'>) {
  const teams = useRead('listTeams', { params: { organizationId }, query: { limit: 1000 } });
  const own = teamsOf(teams.data).filter(({ users = [] }) =>
    users.some(({ user_id }) => user_id === user.user_id),
  );
  return (
    <Facts
      facts={[
        ['Status', <Status key="status" look={memberLooks[status]} />],
        ['E-mail', <bdi key="email">{user.email}</bdi>],
        ['Last sign-in', user.last_login ? <TimeAgo at={user.last_login} /> : 'Never'],
        ['Member since', user.created_at && <TimeAgo at={user.created_at} />],
        ['Teams', own.length === 0 ? 'None' : own.map(({ name }) => name).join(', ')],
        ['Id', <code key="id">{user.user_id}</code>],
      ]}
    />
  );
}

export function MemberDetail({ member, organizationId, onClose }: MemberDetailProps) {
  const { me } = useSession();
  const rights = useRights({ organizationId });
  const name = nameOfUser(member.user);
  const userId = member.user.user_id ?? '';
  return (
    <Detail title={name} onClose={onClose}>
      <MemberFacts member={member} organizationId={organizationId} />
      <Part
        title="Role in the organization"
        lead="It reaches all projects. An organization always keeps an active person with the role Admin."
      >
        <RoleForm member={member} organizationId={organizationId} />
      </Part>
      <Group>
        <Button
          size="xs"
          variant="default"
          component={Link}
          to="/permissions"
          search={{ tab: 'explain', user: userId } as never}
        >
          All rights, and where they come from
        </Button>
        <Removal
          operation="removeMember"
          input={{ params: { id: organizationId, userId } }}
          refreshes={['listMembers', 'listTeams', 'listInvitations']}
          label="Remove from the organization"
          question={`Remove ${name}?`}
          done={`${name} was removed`}
          whyNot={rights.whyNot('EDIT_ORGANIZATION_SETTINGS')}
          onDone={onClose}
        >
          <p>
            All roles and teams of the person here end with the next request. What they did remains in the
            audit trail.
            {userId === me.user.user_id ? ' This is you: you lose the access to this organization.' : ''}
          </p>
        </Removal>
      </Group>
    </Detail>
  );
}
