/** Private keys with which repositories are read over ssh. */
import { type Reply, useRead } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { OpenLink } from '../../records/Detail.tsx';
import { nameOfUser } from '../../records/person.tsx';
import { RecordsPage } from '../../records/RecordsPage.tsx';
import { callOf } from '../../ui/calls.ts';
import { type Column } from '../../ui/DataTable.tsx';
import { TimeAgo } from '../../ui/Time.tsx';
import { ProjectNames } from './project-names.tsx';
import { NewSshKey, SshKeyDetail } from './SshKeyForms.tsx';

type ListedSshKey = Reply<'listSshKeys'>[number];

const columns: readonly Column<ListedSshKey>[] = [
  { id: 'name', head: 'Name', cell: ({ id, name }) => <OpenLink id={id}>{name}</OpenLink> },
  { id: 'projects', head: 'Projects', cell: ({ projectIds }) => <ProjectNames ids={projectIds} /> },
  { id: 'by', head: 'Stored by', isMinor: true, cell: ({ user }) => <bdi>{nameOfUser(user)}</bdi> },
  { id: 'changed', head: 'Changed', isMinor: true, cell: ({ updatedAt }) => <TimeAgo at={updatedAt} /> },
];

export function SshKeysPage() {
  const { organizationId } = useSession();
  const whyNot = useRights({ organizationId }).whyNot('EDIT_ORGANIZATION_SETTINGS');
  const create = callOf(
    'Store a key',
    'createSshKey',
    { body: { organizationId, name: 'deploy key', value: 'PRIVATE KEY' } },
    ['ssh-key', 'create', 'deploy key', '--value-file', 'id_ed25519'],
  );
  return (
    <RecordsPage
      title="SSH keys"
      lead="Repositories and modules are read over ssh with these. Templates and environments name them."
      calls={[callOf('List keys', 'listSshKeys', { query: { organizationId } }, ['ssh-key', 'list']), create]}
      verb="New key"
      whyNot={whyNot}
      query={useRead('listSshKeys', { query: { organizationId } })}
      rowsOf={(keys) => keys}
      columns={columns}
      idOf={({ id }) => id}
      empty={[
        'No keys yet',
        <>
          Make one with <code>ssh-keygen -t ed25519 -N &apos;&apos;</code>, register its public part as a
          deploy key of the repository, and store the private part here.
        </>,
      ]}
      detail={(id, onClose) => <SshKeyDetail id={id} whyNot={whyNot} onClose={onClose} />}
      dialog={(onClose) => <NewSshKey organizationId={organizationId} onClose={onClose} />}
    />
  );
}
