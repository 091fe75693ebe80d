/** Connections to forges that the organization hosts itself. */
import { type Reply, useRead } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { OpenLink } from '../../records/Detail.tsx';
import { RecordsPage } from '../../records/RecordsPage.tsx';
import { callOf } from '../../ui/calls.ts';
import { type Column } from '../../ui/DataTable.tsx';
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
  const url = 'https://git.example.com';
  const query = { organizationId };
  const create = callOf(
    'Store a connection',
    'createVcsConnection',
    { body: { organizationId, name: 'forge', type: 'GitLabEnterprise', url } },
    ['vcs-connection', 'create', 'forge', '--type', 'GitLabEnterprise', '--url', url],
  );
  return (
    <RecordsPage
      title="Forges"
      lead="Connections to forges that you host yourself. Templates and environments that name one use its token."
      calls={[
        callOf('List connections', 'listVcsConnections', { query }, ['vcs-connection', 'list']),
        create,
      ]}
      verb="New connection"
      whyNot={whyNot}
      query={useRead('listVcsConnections', { query })}
      rowsOf={(connections) => connections}
      columns={columns}
      idOf={({ id }) => id}
      empty={[
        'No connections yet',
        'Public forges need none: their repositories are read with a git token or an ssh key.',
      ]}
      detail={(id, onClose) => <VcsConnectionDetail id={id} whyNot={whyNot} onClose={onClose} />}
      dialog={(onClose) => <NewVcsConnection organizationId={organizationId} onClose={onClose} />}
    />
  );
}
