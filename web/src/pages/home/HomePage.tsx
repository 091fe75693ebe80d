/** Home: what needs this person, each with what to do about it. */
import { Skeleton } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useRead } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { callOf } from '../../ui/calls.ts';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Page } from '../../ui/Page.tsx';
import { useNextHour } from '../../ui/Time.tsx';
import { approverObstacle } from '../deployment/decide/approval-words.ts';
import classes from './Inbox.module.css';
import { type Inbox, useInbox } from './inbox.ts';
import { AgentsOffline, Drifted, Expiring, Failed, Waiting } from './Sections.tsx';
import { useLastVisit } from './use-last-visit.ts';

/** The inbox of this person as calls. */
function callsOf(organizationId: string) {
  const call = (label: string, status: string) =>
    callOf(label, 'listEnvironments', { query: { organizationId, isActive: true, status } } as never, [
      'environment',
      'list',
      '--status',
      status,
    ]);
  return [call('What waits for approval', 'WAITING_FOR_USER'), call('What failed', 'FAILED,TIMEOUT')];
}

function Nothing({ organizationId }: { readonly organizationId: string }) {
  const { data: projects } = useRead('listProjects', { query: { organizationId } });
  const projectId = projects?.[0]?.id ?? '<project>';
  const call = callOf(
    'Create an environment',
    'createEnvironmentWithoutTemplate',
    {
      body: {
        organizationId,
        projectId,
        name: 'web',
        type: 'opentofu',
        repository: 'https://git.example.com/infrastructure.git',
        requiresApproval: true,
      },
    } as never,
    [
      'environment',
      'create',
      'web',
      ...['--project', projectId],
      ...['--type', 'opentofu'],
      ...['--repository', 'https://git.example.com/infrastructure.git'],
      '--require-approval',
    ],
  );
  return (
    <EmptyState
      title="Nothing needs your attention"
      call={call}
      action={
        <p>
          <Link to="/environments">All environments</Link>
        </p>
      }
    >
      No plan waits for your approval, nothing failed since your last visit, nothing drifted, nothing expires
      within three days, and every agent is there. A new environment that requires approval would wait here.
    </EmptyState>
  );
}

function Waits() {
  return (
    <div role="status" aria-label="Loading">
      <Skeleton height={24} width="12rem" />
      <Skeleton height={64} mt={10} />
      <Skeleton height={64} mt={2} />
    </div>
  );
}

function Contents({
  inbox,
  organizationId,
  userId,
  onSeen,
}: {
  readonly inbox: Inbox;
  readonly organizationId: string;
  readonly userId: string | undefined;
  readonly onSeen: () => void;
}) {
  const { waiting, failed, drifted, expiring, agents, approvable } = inbox;
  const reads = [waiting, failed, drifted, expiring, agents];
  const isThere =
    reads.every(({ data, error }) => data !== undefined || error !== null) && approvable !== null;
  if (!isThere) return <Waits />;
  const rows = waiting.data?.rows ?? [];
  const isMine = ({ id, latestDeploymentLog: { waitingFor } }: (typeof rows)[number]) =>
    approvable.has(id) && approverObstacle(waitingFor, userId) === undefined;
  const mine = rows.filter(isMine);
  const others = rows.filter((row) => !isMine(row));
  const unseen = (waiting.data?.total ?? 0) - rows.length;
  const away = (agents.data ?? []).filter(({ status }) => status !== 'ACTIVE');
  const isEmpty =
    reads.every(({ error }) => error === null) &&
    [waiting, failed, drifted, expiring].every(({ data }) => data?.total === 0) &&
    away.length === 0;
  if (isEmpty) return <Nothing organizationId={organizationId} />;
  return (
    <div className={classes.sections}>
      <Waiting read={waiting} environments={mine} total={mine.length + unseen} userId={userId} isMine />
      <Failed read={failed} onSeen={onSeen} />
      <AgentsOffline read={agents} agents={away} />
      <Expiring read={expiring} />
      <Drifted read={drifted} />
      <Waiting read={waiting} environments={others} total={others.length} userId={userId} isMine={false} />
    </div>
  );
}

export function HomePage() {
  const { me, organizationId } = useSession();
  const [since, markSeen] = useLastVisit(me.user.user_id ?? '', organizationId);
  const hour = useNextHour();
  const inbox = useInbox(organizationId, since, hour);
  return (
    <Page title="Inbox" calls={callsOf(organizationId)}>
      <Contents inbox={inbox} organizationId={organizationId} userId={me.user.user_id} onSeen={markSeen} />
    </Page>
  );
}
