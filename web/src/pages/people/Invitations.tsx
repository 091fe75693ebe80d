/** Invitations: pending ones can be renewed and revoked. */
import { Group } from '@mantine/core';
import { useState } from 'react';
import { type Reply, useChange, useRead } from '../../api/queries.ts';
import { Status, type StatusLook } from '../../design/status.tsx';
import { nameOfUser } from '../../records/person.tsx';
import { Removal } from '../../records/Removal.tsx';
import { roleName } from '../../records/roles.ts';
import { useCustomRoles } from '../../records/use-custom-roles.ts';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { callOf } from '../../ui/calls.ts';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { TimeAgo } from '../../ui/Time.tsx';
import { InvitationLink } from './InvitationLink.tsx';

type ListedInvitation = Reply<'listInvitations'>[number];

const looks: Readonly<Record<ListedInvitation['status'], StatusLook>> = {
  Pending: { word: 'Pending', tone: 'wait', shape: 'diamond' },
  Accepted: { word: 'Accepted', tone: 'ok', shape: 'check' },
  Expired: { word: 'Expired', tone: 'idle', shape: 'clock' },
};

function Actions({
  invitation,
  whyNot,
}: {
  readonly invitation: ListedInvitation;
  readonly whyNot?: string | undefined;
}) {
  const { id, email, status } = invitation;
  const [link, setLink] = useState<string>();
  const resend = useChange('resendInvitation', {
    refreshes: ['listInvitations'],
    onSuccess: (made) => setLink(made.link),
  });
  if (status === 'Accepted') return null;
  return (
    <Group gap="xs" justify="flex-end" wrap="nowrap">
      <ActionButton
        size="xs"
        variant="default"
        whyNot={whyNot}
        loading={resend.isPending}
        onClick={() => resend.mutate({ params: { id } })}
      >
        New link
      </ActionButton>
      <Removal
        operation="deleteInvitation"
        input={{ params: { id } }}
        refreshes={['listInvitations', 'listMembers']}
        label="Revoke"
        question="Revoke the invitation?"
        done="The invitation was revoked"
        whyNot={whyNot}
      >
        <p>
          The link of <bdi>{email}</bdi> no longer works.
        </p>
      </Removal>
      {link !== undefined && <InvitationLink email={email} link={link} onClose={() => setLink(undefined)} />}
    </Group>
  );
}

export interface InvitationsProps {
  readonly organizationId: string;
  readonly whyNot?: string | undefined;
  readonly isKnown: boolean;
}

export function Invitations({ organizationId, whyNot, isKnown }: InvitationsProps) {
  const custom = useCustomRoles(organizationId);
  const invitations = useRead(
    'listInvitations',
    { query: { organizationId } },
    { enabled: isKnown && whyNot === undefined },
  );
  if (isKnown && whyNot !== undefined)
    return <EmptyState title="You cannot see the invitations">{whyNot}</EmptyState>;
  const columns: readonly Column<ListedInvitation>[] = [
    { id: 'email', head: 'E-mail', cell: ({ email }) => <bdi>{email}</bdi> },
    {
      id: 'role',
      head: 'Role',
      cell: ({ permissions }) => <bdi>{roleName(permissions.organizationRole, custom)}</bdi>,
    },
    { id: 'status', head: 'Status', cell: ({ status }) => <Status look={looks[status]} /> },
    { id: 'until', head: 'Ends', isMinor: true, cell: ({ expiresAt }) => <TimeAgo at={expiresAt} /> },
    {
      id: 'by',
      head: 'Invited by',
      isMinor: true,
      cell: ({ createdByUser }) => <bdi>{nameOfUser(createdByUser)}</bdi>,
    },
    { id: 'do', head: '', cell: (invitation) => <Actions invitation={invitation} whyNot={whyNot} /> },
  ];
  const call = callOf(
    'Invite a person',
    'createInvitation',
    { body: { email: 'grace@example.com', organizationId } },
    ['user', 'invite', 'grace@example.com'],
  );
  return (
    <Loaded query={invitations}>
      {(rows) =>
        rows.length === 0 ? (
          <EmptyState title="No open invitations" call={call}>
            An invitation gives a person an account in this organization, with a role of your choice.
          </EmptyState>
        ) : (
          <DataTable label="Invitations" columns={columns} rows={rows} idOf={({ id }) => id} />
        )
      }
    </Loaded>
  );
}
