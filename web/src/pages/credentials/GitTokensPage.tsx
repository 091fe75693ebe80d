/** Tokens with which repositories and registries are read. */
import { type Reply, useRead } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { OpenLink } from '../../records/Detail.tsx';
import { RecordsPage } from '../../records/RecordsPage.tsx';
import { callOf } from '../../ui/calls.ts';
import { type Column } from '../../ui/DataTable.tsx';
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
  const create = callOf(
    'Store a token',
    'createGitToken',
    { body: { organizationId, name: 'forge', value: 'TOKEN' } },
    ['git-token', 'create', 'forge', '--value-file', 'token.txt'],
  );
  return (
    <RecordsPage
      title="Git tokens"
      lead="Repositories are read over https with these, and private registries of modules and providers."
      calls={[
        callOf('List tokens', 'listGitTokens', { query: { organizationId } }, ['git-token', 'list']),
        create,
      ]}
      verb="New token"
      whyNot={whyNot}
      query={useRead('listGitTokens', { query: { organizationId } })}
      rowsOf={(tokens) => tokens}
      columns={columns}
      idOf={({ id }) => id}
      empty={[
        'No tokens yet',
        'Public repositories need none. For a private one, select the token in the template or the environment.',
      ]}
      detail={(id, onClose) => <GitTokenDetail id={id} whyNot={whyNot} onClose={onClose} />}
      dialog={(onClose) => <NewGitToken organizationId={organizationId} onClose={onClose} />}
    />
  );
}
