/** Keys of programs, and tokens of the identity provider. */
import { Button, CopyButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { type Reply, useRead } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { OpenLink, useOpenRow } from '../../records/Detail.tsx';
import { Expiry } from '../../records/Expiry.tsx';
import { Part } from '../../records/Part.tsx';
import { RecordsTable } from '../../records/RecordsPage.tsx';
import { roleName } from '../../records/roles.ts';
import { UrlTabs } from '../../records/UrlTabs.tsx';
import { useCustomRoles } from '../../records/use-custom-roles.ts';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { callOf } from '../../ui/calls.ts';
import { type Column } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { Page } from '../../ui/Page.tsx';
import { TimeAgo } from '../../ui/Time.tsx';
import { ApiKeyDetail } from './ApiKeyDetail.tsx';
import { NewApiKey } from './NewApiKey.tsx';
import { ScimTokens } from './ScimTokens.tsx';

type ListedApiKey = Reply<'listApiKeys'>[number];

function useColumns(organizationId: string): readonly Column<ListedApiKey>[] {
  const custom = useCustomRoles(organizationId);
  return [
    { id: 'name', head: 'Name', cell: ({ id, name }) => <OpenLink id={id}>{name}</OpenLink> },
    {
      id: 'role',
      head: 'Role',
      cell: ({ organizationRole }) => <bdi>{roleName(organizationRole, custom)}</bdi>,
    },
    { id: 'secrets', head: 'Secrets', isNumber: true, isMinor: true, cell: ({ secrets }) => secrets.length },
    {
      id: 'used',
      head: 'Last used',
      isMinor: true,
      cell: ({ lastUsedAt }) => (lastUsedAt ? <TimeAgo at={lastUsedAt} /> : 'Never'),
    },
    { id: 'expires', head: 'Ends', cell: ({ expiresAt }) => <Expiry at={expiresAt} /> },
  ];
}

function Keys({ organizationId, whyNot }: { organizationId: string; whyNot: string | undefined }) {
  const { openId, close } = useOpenRow();
  const keys = useRead('listApiKeys', { query: { organizationId } }, { enabled: whyNot === undefined });
  const columns = useColumns(organizationId);
  if (whyNot !== undefined) return <EmptyState title="You cannot see the keys">{whyNot}</EmptyState>;
  const opened = keys.data?.find(({ id }) => id === openId);
  const call = callOf(
    'Create a key',
    'createApiKey',
    { body: { organizationId, name: 'pipeline', permissions: { organizationRole: 'User' } } },
    ['key', 'create', 'pipeline', '--role', 'User'],
  );
  return (
    <>
      <Loaded query={keys}>
        {(rows) => (
          <RecordsTable
            label="API keys"
            columns={columns}
            rows={rows}
            idOf={({ id }) => id}
            empty={
              <EmptyState title="No keys yet" call={call}>
                A key lets a program call the service. It is its own user, with a role.
              </EmptyState>
            }
          />
        )}
      </Loaded>
      {opened && <ApiKeyDetail key={opened.id} apiKey={opened} whyNot={whyNot} onClose={close} />}
    </>
  );
}

function Subject({ organizationId }: { readonly organizationId: string }) {
  const subject = useQuery({
    queryKey: ['getOidcSubject', organizationId],
    queryFn: async ({ signal }) =>
      new TextDecoder().decode(await client.bytes('getOidcSubject', { query: { organizationId }, signal })),
  });
  return (
    <Part
      title="Subject of the tokens of runs"
      lead="Clouds that trust this installation by OIDC compare this text with their trust policy. Credentials with OIDC need no stored secret."
    >
      <Loaded query={subject} lines={1}>
        {(text) => (
          <p>
            <code>{text}</code>{' '}
            <CopyButton value={text}>
              {({ copied, copy }) => (
                <Button size="compact-xs" variant="light" onClick={copy}>
                  {copied ? 'Copied' : 'Copy the subject'}
                </Button>
              )}
            </CopyButton>
          </p>
        )}
      </Loaded>
    </Part>
  );
}

export function ApiKeysPage() {
  const { organizationId } = useSession();
  const rights = useRights({ organizationId });
  const [isCreating, setCreating] = useState(false);
  const whyNot = rights.whyNot('EDIT_ORGANIZATION_SETTINGS');
  return (
    <Page
      title="API keys"
      lead="Keys of the organization act as users of their own. A key that acts as you is in your profile."
      calls={[
        callOf('List keys', 'listApiKeys', { query: { organizationId } }, ['key', 'list']),
        callOf('Subject of OIDC tokens', 'getOidcSubject', { query: { organizationId } }, [
          'credentials',
          'subject',
        ]),
      ]}
      actions={
        <ActionButton size="xs" whyNot={whyNot} onClick={() => setCreating(true)}>
          New key
        </ActionButton>
      }
    >
      <UrlTabs
        tabs={[
          {
            value: 'keys',
            label: 'Keys',
            content: () => <Keys organizationId={organizationId} whyNot={whyNot} />,
          },
          {
            value: 'scim',
            label: 'Provisioning (SCIM)',
            content: () => <ScimTokens organizationId={organizationId} whyNot={whyNot} />,
          },
          {
            value: 'oidc',
            label: 'OIDC of runs',
            content: () => <Subject organizationId={organizationId} />,
          },
        ]}
      />
      {isCreating && <NewApiKey organizationId={organizationId} onClose={() => setCreating(false)} />}
    </Page>
  );
}
