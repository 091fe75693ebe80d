/** Sessions of the person. */
import { type Reply, useRead } from '../../api/queries.ts';
import { Part } from '../../records/Part.tsx';
import { Removal } from '../../records/Removal.tsx';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { TimeAgo } from '../../ui/Time.tsx';
import { programOf } from './user-agent.ts';

type ListedSession = Reply<'listSessions'>[number];

const ways: Readonly<Record<ListedSession['way'], string>> = {
  password: 'Password',
  oidc: 'Identity provider',
  invitation: 'Invitation',
  link: 'One-time link',
};

const columns: readonly Column<ListedSession>[] = [
  {
    id: 'where',
    head: 'Where',
    cell: ({ kind, userAgent, isCurrent }) => (
      <>
        <bdi>{kind === 'cli' ? 'Command line' : programOf(userAgent)}</bdi>
        {isCurrent ? ' (this one)' : ''}
      </>
    ),
  },
  { id: 'address', head: 'Address', isMinor: true, cell: ({ address }) => <code>{address}</code> },
  { id: 'way', head: 'By', isMinor: true, cell: ({ way }) => ways[way] },
  { id: 'begun', head: 'Begun', isMinor: true, cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
  { id: 'used', head: 'Last used', cell: ({ lastUsedAt }) => <TimeAgo at={lastUsedAt} /> },
  { id: 'ends', head: 'Ends', isMinor: true, cell: ({ expiresAt }) => <TimeAgo at={expiresAt} /> },
  {
    id: 'do',
    head: '',
    cell: ({ id, isCurrent }) => (
      <Removal
        operation="deleteSession"
        input={{ params: { id } }}
        refreshes={['listSessions']}
        label="End"
        question="End this session?"
        done="The session has ended"
        whyNot={isCurrent ? 'This is the session of this page: sign out instead.' : undefined}
      >
        <p>It ends at once and on all servers. Anyone who uses it has to sign in again.</p>
      </Removal>
    ),
  },
];

export function Sessions() {
  const sessions = useRead('listSessions');
  return (
    <Part title="Sessions" lead="End those that you do not recognize, and then change your password.">
      <Loaded query={sessions} lines={3}>
        {(rows) => <DataTable label="Sessions" columns={columns} rows={rows} idOf={({ id }) => id} />}
      </Loaded>
    </Part>
  );
}
