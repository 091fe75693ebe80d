/** The people of the organization, and those who are invited. */
import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { usePage } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { Status } from '../../design/status.tsx';
import { OpenLink, useOpenRow } from '../../records/Detail.tsx';
import { nameOfUser } from '../../records/person.tsx';
import { roleName } from '../../records/roles.ts';
import { UrlTabs } from '../../records/UrlTabs.tsx';
import { useCustomRoles } from '../../records/use-custom-roles.ts';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { callOf } from '../../ui/calls.ts';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { Page } from '../../ui/Page.tsx';
import { useSearchState } from '../../ui/search.ts';
import { TimeAgo } from '../../ui/Time.tsx';
import { Invitations } from './Invitations.tsx';
import { InviteDialog } from './InviteDialog.tsx';
import { MemberDetail } from './MemberDetail.tsx';
import { type ListedMember, memberLooks } from './members.ts';

function useColumns(organizationId: string): readonly Column<ListedMember>[] {
  const custom = useCustomRoles(organizationId);
  return [
    {
      id: 'name',
      head: 'Name',
      cell: ({ user }) => <OpenLink id={user.user_id ?? ''}>{nameOfUser(user)}</OpenLink>,
    },
    { id: 'email', head: 'E-mail', cell: ({ user }) => <bdi>{user.email}</bdi>, isMinor: true },
    { id: 'role', head: 'Role', cell: ({ role }) => <bdi>{roleName(role, custom)}</bdi> },
    { id: 'status', head: 'Status', cell: ({ status }) => <Status look={memberLooks[status]} /> },
    {
      id: 'last',
      head: 'Last sign-in',
      isMinor: true,
      cell: ({ user }) => (user.last_login ? <TimeAgo at={user.last_login} /> : 'Never'),
    },
  ];
}

function Members({ organizationId }: { readonly organizationId: string }) {
  const [{ q = '' }, change] = useSearchState();
  const { open, openId, close } = useOpenRow();
  const members = usePage('listMembers', {
    params: { id: organizationId },
    query: { includeApiKeys: false, ...(q === '' ? {} : { query: q }) },
  });
  const columns = useColumns(organizationId);
  const opened = members.data?.rows.find(({ user }) => user.user_id === openId);
  return (
    <>
      <TextInput
        aria-label="Search"
        placeholder="Name or e-mail"
        defaultValue={q}
        onChange={(event) => change({ q: event.currentTarget.value || undefined })}
        maw={320}
        mb="md"
      />
      <Loaded query={members}>
        {({ rows }) =>
          rows.length === 0 ? (
            <EmptyState title="No matching people">Look for another name, or invite the person.</EmptyState>
          ) : (
            <DataTable
              label="Members"
              columns={columns}
              rows={rows}
              idOf={({ user }) => user.user_id ?? ''}
              onOpen={({ user }) => open(user.user_id ?? '')}
            />
          )
        }
      </Loaded>
      {opened && (
        <MemberDetail key={openId} member={opened} organizationId={organizationId} onClose={close} />
      )}
    </>
  );
}

export function UsersPage() {
  const { organizationId } = useSession();
  const rights = useRights({ organizationId });
  const [isInviting, setInviting] = useState(false);
  const whyNot = rights.whyNot('EDIT_ORGANIZATION_SETTINGS');
  return (
    <Page
      title="Users"
      lead="People who can sign in to this organization. Programs have API keys of their own."
      calls={[
        callOf('List members', 'listMembers', { params: { id: organizationId } }, ['user', 'list']),
        callOf(
          'Invite a person',
          'createInvitation',
          { body: { email: 'grace@example.com', organizationId } },
          ['user', 'invite', 'grace@example.com'],
        ),
      ]}
      actions={
        <ActionButton size="xs" whyNot={whyNot} onClick={() => setInviting(true)}>
          Invite a person
        </ActionButton>
      }
    >
      <UrlTabs
        tabs={[
          {
            value: 'members',
            label: 'Members',
            content: () => <Members organizationId={organizationId} />,
          },
          {
            value: 'invitations',
            label: 'Invitations',
            content: () => (
              <Invitations organizationId={organizationId} whyNot={whyNot} isKnown={rights.isKnown} />
            ),
          },
        ]}
      />
      {isInviting && <InviteDialog organizationId={organizationId} onClose={() => setInviting(false)} />}
    </Page>
  );
}
