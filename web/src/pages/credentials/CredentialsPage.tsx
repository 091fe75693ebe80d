/** Credentials of clouds, which runs get. */
import { useState } from 'react';
import { credentialKinds } from '#contract/credentials/kinds.ts';
import { useRead } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { useProjects } from '../../forms/ProjectSelect.tsx';
import { pathOf } from '../../forms/project-tree.ts';
import { OpenLink, useOpenRow } from '../../records/Detail.tsx';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { callOf } from '../../ui/calls.ts';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { Page } from '../../ui/Page.tsx';
import { TimeAgo } from '../../ui/Time.tsx';
import { CredentialDetail } from './CredentialDetail.tsx';
import { kindNames, type ListedCredential } from './credential-kinds.ts';
import { NewCredential } from './NewCredential.tsx';

function useColumns(): readonly Column<ListedCredential>[] {
  const { projects } = useProjects();
  return [
    { id: 'name', head: 'Name', cell: ({ id, name }) => <OpenLink id={id}>{name}</OpenLink> },
    { id: 'kind', head: 'Kind', cell: ({ type }) => kindNames[type] },
    {
      id: 'home',
      head: 'Belongs to',
      isMinor: true,
      cell: ({ projectId }) =>
        projectId ? <bdi>{pathOf(projects, projectId) || projectId}</bdi> : 'Organization',
    },
    {
      id: 'for',
      head: 'For',
      isMinor: true,
      cell: ({ type }) => (credentialKinds[type].isForRuns ? 'Runs' : 'Costs'),
    },
    { id: 'changed', head: 'Changed', isMinor: true, cell: ({ updatedAt }) => <TimeAgo at={updatedAt} /> },
  ];
}

function List({ organizationId, action }: { organizationId: string; action: React.ReactNode }) {
  const { open, openId, close } = useOpenRow();
  const credentials = useRead('listCredentials', { query: { organizationId } });
  const columns = useColumns();
  const opened = credentials.data?.find(({ id }) => id === openId);
  return (
    <>
      <Loaded query={credentials}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState title="There is no credential yet" call={createCall(organizationId)} action={action}>
              A credential gives runs access to a cloud, without a secret in variables. With OIDC, no secret
              is stored at all.
            </EmptyState>
          ) : (
            <DataTable
              label="Cloud credentials"
              columns={columns}
              rows={rows}
              idOf={({ id }) => id}
              onOpen={({ id }) => open(id)}
            />
          )
        }
      </Loaded>
      {opened && <CredentialDetail key={opened.id} credential={opened} onClose={close} />}
    </>
  );
}

const createCall = (organizationId: string) => {
  const roleArn = 'arn:aws:iam::123456789012:role/deployer';
  return callOf(
    'Store a credential',
    'createCredential',
    { body: { organizationId, name: 'deployer', type: 'AWS_OIDC', value: { roleArn } } },
    ['credentials', 'create', 'deployer', '--type', 'AWS_OIDC', '--field', `roleArn=${roleArn}`],
  );
};

export function CredentialsPage() {
  const { organizationId } = useSession();
  const rights = useRights({ organizationId });
  const [isCreating, setCreating] = useState(false);
  const button = (
    <ActionButton
      size="xs"
      whyNot={rights.whyNot('EDIT_ORGANIZATION_SETTINGS')}
      onClick={() => setCreating(true)}
    >
      New credential
    </ActionButton>
  );
  return (
    <Page
      title="Cloud credentials"
      lead="Runs get at most one for each cloud: the one that is assigned nearest to their project."
      calls={[
        callOf('List credentials', 'listCredentials', { query: { organizationId } }, ['credentials', 'list']),
        createCall(organizationId),
      ]}
      actions={button}
    >
      <List organizationId={organizationId} action={button} />
      {isCreating && <NewCredential organizationId={organizationId} onClose={() => setCreating(false)} />}
    </Page>
  );
}
