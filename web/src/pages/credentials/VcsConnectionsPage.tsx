/** Connections to forges that the organization hosts itself. */
import { useState } from 'react';
import { type Reply, useRead } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { OpenLink, useOpenRow } from '../../records/Detail.tsx';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { callOf } from '../../ui/calls.ts';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { Page } from '../../ui/Page.tsx';
import { TimeAgo } from '../../ui/Time.tsx';
import { forgeNames } from './forge-names.ts';
import { NewVcsConnection, VcsConnectionDetail } from './VcsConnectionForms.tsx';

type ListedVcsConnection = Reply<'listVcsConnections'>[number];

const columns: readonly Column<ListedVcsConnection>[] = [
  { id: 'name', head: 'Name', cell: ({ id, name }) => <OpenLink id={id}>{name}</OpenLink> },
  { id: 'type', head: 'Forge', cell: ({ type }) => forgeNames[type] },
  { id: 'url', head: 'Address', cell: ({ url }) => <code>{url}</code> },
  { id: 'changed', head: 'Changed', isMinor: true, cell: ({ updatedAt }) => <TimeAgo at={updatedAt} /> },
];

export function VcsConnectionsPage() {
  const { organizationId } = useSession();
  const whyNot = useRights({ organizationId }).whyNot('EDIT_ORGANIZATION_SETTINGS');
  const [isCreating, setCreating] = useState(false);
  const { open, openId, close } = useOpenRow();
  const connections = useRead('listVcsConnections', { query: { organizationId } });
  const url = 'https://git.example.com';
  const create = callOf(
    'Store a connection',
    'createVcsConnection',
    { body: { organizationId, name: 'forge', type: 'GitLabEnterprise', url } },
    ['vcs-connection', 'create', 'forge', '--type', 'GitLabEnterprise', '--url', url],
  );
  const button = (
    <ActionButton size="xs" whyNot={whyNot} onClick={() => setCreating(true)}>
      New connection
    </ActionButton>
  );
  return (
    <Page
      title="Forges"
      lead="Connections to forges that you host yourself. Templates and environments that name one use its token."
      calls={[
        callOf('List connections', 'listVcsConnections', { query: { organizationId } }, [
          'vcs-connection',
          'list',
        ]),
        create,
      ]}
      actions={button}
    >
      <Loaded query={connections}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState title="There is no connection yet" call={create} action={button}>
              Public forges need none: their repositories are read with a git token or an ssh key.
            </EmptyState>
          ) : (
            <DataTable
              label="Forges"
              columns={columns}
              rows={rows}
              idOf={({ id }) => id}
              onOpen={({ id }) => open(id)}
            />
          )
        }
      </Loaded>
      {openId !== undefined && (
        <VcsConnectionDetail key={openId} id={openId} whyNot={whyNot} onClose={close} />
      )}
      {isCreating && <NewVcsConnection organizationId={organizationId} onClose={() => setCreating(false)} />}
    </Page>
  );
}
