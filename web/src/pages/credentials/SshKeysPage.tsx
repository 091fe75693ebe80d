/** Private keys with which repositories are read over ssh. */
import { useState } from 'react';
import { type Reply, useRead } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { OpenLink, useOpenRow } from '../../records/Detail.tsx';
import { nameOfUser } from '../../records/person.tsx';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { callOf } from '../../ui/calls.ts';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { Page } from '../../ui/Page.tsx';
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
  const [isCreating, setCreating] = useState(false);
  const { open, openId, close } = useOpenRow();
  const keys = useRead('listSshKeys', { query: { organizationId } });
  const create = callOf(
    'Store a key',
    'createSshKey',
    { body: { organizationId, name: 'deploy key', value: 'PRIVATE KEY' } },
    ['ssh-key', 'create', 'deploy key', '--value-file', 'id_ed25519'],
  );
  const button = (
    <ActionButton size="xs" whyNot={whyNot} onClick={() => setCreating(true)}>
      New key
    </ActionButton>
  );
  return (
    <Page
      title="SSH keys"
      lead="Repositories and modules are read over ssh with these. Templates and environments name them."
      calls={[callOf('List keys', 'listSshKeys', { query: { organizationId } }, ['ssh-key', 'list']), create]}
      actions={button}
    >
      <Loaded query={keys}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState title="There is no key yet" call={create} action={button}>
              Make one with <code>ssh-keygen -t ed25519 -N &apos;&apos;</code>, register its public part as a
              deploy key of the repository, and store the private part here.
            </EmptyState>
          ) : (
            <DataTable
              label="SSH keys"
              columns={columns}
              rows={rows}
              idOf={({ id }) => id}
              onOpen={({ id }) => open(id)}
            />
          )
        }
      </Loaded>
      {openId !== undefined && <SshKeyDetail key={openId} id={openId} whyNot={whyNot} onClose={close} />}
      {isCreating && <NewSshKey organizationId={organizationId} onClose={() => setCreating(false)} />}
    </Page>
  );
}
