/** Tokens with which repositories and registries are read. */
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
import { GitTokenDetail } from './GitTokenDetail.tsx';
import { NewGitToken } from './NewGitToken.tsx';
import { ProjectNames } from './project-names.tsx';

type ListedGitToken = Reply<'listGitTokens'>[number];

const columns: readonly Column<ListedGitToken>[] = [
  { id: 'name', head: 'Name', cell: ({ id, name }) => <OpenLink id={id}>{name}</OpenLink> },
  { id: 'type', head: 'For', cell: ({ type }) => (type === 'GIT' ? 'Repositories' : 'Registries') },
  {
    id: 'hosts',
    head: 'Hosts',
    isMinor: true,
    cell: ({ hosts }) => (hosts.length === 0 ? 'Those of its repositories' : hosts.join(', ')),
  },
  {
    id: 'projects',
    head: 'Projects',
    isMinor: true,
    cell: ({ projectIds }) => <ProjectNames ids={projectIds} />,
  },
];

export function GitTokensPage() {
  const { organizationId } = useSession();
  const whyNot = useRights({ organizationId }).whyNot('EDIT_ORGANIZATION_SETTINGS');
  const [isCreating, setCreating] = useState(false);
  const { open, openId, close } = useOpenRow();
  const tokens = useRead('listGitTokens', { query: { organizationId } });
  const create = callOf(
    'Store a token',
    'createGitToken',
    { body: { organizationId, name: 'forge', value: 'TOKEN' } },
    ['git-token', 'create', 'forge', '--value-file', 'token.txt'],
  );
  const button = (
    <ActionButton size="xs" whyNot={whyNot} onClick={() => setCreating(true)}>
      New token
    </ActionButton>
  );
  return (
    <Page
      title="Git tokens"
      lead="Repositories are read over https with these, and private registries of modules and providers."
      calls={[
        callOf('List tokens', 'listGitTokens', { query: { organizationId } }, ['git-token', 'list']),
        create,
      ]}
      actions={button}
    >
      <Loaded query={tokens}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState title="There is no token yet" call={create} action={button}>
              Public repositories need none. A template or an environment names the token for a private one.
            </EmptyState>
          ) : (
            <DataTable
              label="Git tokens"
              columns={columns}
              rows={rows}
              idOf={({ id }) => id}
              onOpen={({ id }) => open(id)}
            />
          )
        }
      </Loaded>
      {openId !== undefined && <GitTokenDetail key={openId} id={openId} whyNot={whyNot} onClose={close} />}
      {isCreating && <NewGitToken organizationId={organizationId} onClose={() => setCreating(false)} />}
    </Page>
  );
}
