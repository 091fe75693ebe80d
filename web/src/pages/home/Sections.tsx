/** The sections of the inbox. */

import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Agent } from '#contract/agents/shapes.ts';
import type { Environment } from '#contract/environments/shapes.ts';
import { driftLooks, environmentLooks, type StatusLook } from '../../design/status.tsx';
import { PlanCounts } from '../../ui/PlanCounts.tsx';
import rows from '../../ui/rows.module.css';
import { TimeAgo } from '../../ui/Time.tsx';
import { approverObstacle, costWords } from '../deployment/decide/approval-words.ts';
import classes from './Inbox.module.css';
import { InboxRow, InboxSection } from './InboxSection.tsx';
import type { AgentsRead, SectionRead } from './inbox.ts';

function Open({ to, children }: { readonly to: string; readonly children: string }) {
  return (
    <Button component={Link} to={to} size="compact-sm" variant="default">
      {children}
    </Button>
  );
}

function More({ read, search }: { readonly read: SectionRead; readonly search: Record<string, string> }) {
  const left = (read.data?.total ?? 0) - (read.data?.rows.length ?? 0);
  if (left <= 0) return null;
  return (
    <Link to="/environments" search={search} className={classes.more!}>
      And {left} more in the list
    </Link>
  );
}

function environmentRow(environment: Environment, look: StatusLook, facts: ReactNode, action: ReactNode) {
  const { id, name, projectName } = environment;
  return (
    <InboxRow key={id} look={look} name={name} to={`/environments/${id}`} place={projectName} action={action}>
      {facts}
    </InboxRow>
  );
}

type LatestRun = Environment['latestDeploymentLog'];

function who({ startedByUser }: LatestRun): string {
  return startedByUser.name ?? startedByUser.email ?? 'someone';
}

interface WaitingProps {
  readonly read: SectionRead;
  readonly environments: readonly Environment[];
  readonly total: number;
  readonly userId: string | undefined;
  readonly isMine: boolean;
}

/** Facts about an approval beyond the plan: its costs, approvers, open requirements and deadline. */
function Approval({ run, userId }: { readonly run: LatestRun; readonly userId: string | undefined }) {
  const { waitingFor, reviewers, costEstimation } = run;
  const { approval } = waitingFor ?? {};
  const cost = costWords(costEstimation);
  const approved = reviewers.filter(({ action }) => action === 'approved').length;
  const obstacle = approverObstacle(waitingFor, userId);
  return (
    <>
      {cost !== undefined && <p>{cost}</p>}
      {approved > 0 && (
        <p>{approved === 1 ? '1 person has' : `${approved} people have`} approved it so far</p>
      )}
      {approval?.missing?.map((text) => (
        <p key={text}>
          Still missing: <bdi>{text}</bdi>
        </p>
      ))}
      {obstacle !== undefined && <p>{obstacle}</p>}
    </>
  );
}

/** Plans that wait for approval. */
export function Waiting({ read, environments, total, userId, isMine }: WaitingProps) {
  return (
    <InboxSection
      id={isMine ? 'waiting' : 'waiting-others'}
      title={isMine ? 'Waiting for you' : 'Waiting for someone else'}
      total={total}
      more={isMine && <More read={read} search={{ status: 'WAITING_FOR_USER' }} />}
      error={isMine && !read.data ? read.error : null}
      refetch={read.refetch}
    >
      {environments.map((environment) => {
        const run = environment.latestDeploymentLog;
        const since = run.waitingFor?.since ?? run.startedAt ?? run.queuedAt;
        const until = run.waitingFor?.approval?.until;
        return environmentRow(
          environment,
          environmentLooks.WAITING_FOR_USER,
          <>
            <p>
              {run.type === 'destroy' ? 'Destroy: ' : ''}
              {run.planSummary ? (
                <PlanCounts summary={run.planSummary} isPlanEmpty={run.isPlanEmpty} />
              ) : (
                'The plan is ready'
              )}
            </p>
            <Approval run={run} userId={userId} />
            <p className={rows.quiet}>
              requested {since ? <TimeAgo at={since} /> : 'just now'} by <bdi>{who(run)}</bdi>
              {until !== undefined && (
                <>
                  , times out <TimeAgo at={until} />
                </>
              )}
            </p>
          </>,
          isMine ? (
            <Button component={Link} to={`/deployments/${run.id}`} size="compact-sm">
              Review
            </Button>
          ) : (
            <Open to={`/deployments/${run.id}`}>Look at it</Open>
          ),
        );
      })}
    </InboxSection>
  );
}

/** Deployments that failed since the last visit. */
export function Failed({ read, onSeen }: { readonly read: SectionRead; readonly onSeen: () => void }) {
  return (
    <InboxSection
      id="failed"
      title="Failed since your last visit"
      total={read.data?.total ?? 0}
      aside={
        <Button variant="subtle" size="compact-xs" onClick={onSeen}>
          Mark all as seen
        </Button>
      }
      more={<More read={read} search={{ status: 'FAILED,TIMEOUT' }} />}
      error={read.data ? null : read.error}
      refetch={read.refetch}
    >
      {read.data?.rows.map((environment) => {
        const run = environment.latestDeploymentLog;
        return environmentRow(
          environment,
          environmentLooks[environment.status],
          <>
            <p className={classes.fact}>
              <bdi>{run.error?.message ?? environmentLooks[environment.status].word}</bdi>
            </p>
            <p className={rows.quiet}>
              {run.finishedAt && <TimeAgo at={run.finishedAt} />}, started by <bdi>{who(run)}</bdi>
            </p>
          </>,
          <Open to={`/deployments/${run.id}`}>See why</Open>,
        );
      })}
    </InboxSection>
  );
}

/** Environments that differ from their code. */
export function Drifted({ read }: { readonly read: SectionRead }) {
  return (
    <InboxSection
      id="drifted"
      title="Drifted"
      total={read.data?.total ?? 0}
      more={<More read={read} search={{ drift: 'DRIFTED,ERROR' }} />}
      error={read.data ? null : read.error}
      refetch={read.refetch}
    >
      {read.data?.rows.map((environment) =>
        environmentRow(
          environment,
          driftLooks[environment.driftStatus],
          <p className={rows.quiet}>
            {environment.driftStatus === 'ERROR'
              ? 'The last check failed'
              : 'What is there differs from the code'}
          </p>,
          <Open to={`/environments/${environment.id}?tab=drift`}>See drift</Open>,
        ),
      )}
    </InboxSection>
  );
}

const expiring: StatusLook = { word: 'Expires', tone: 'wait', shape: 'clock' };

/** Environments that are destroyed within three days unless their end is changed. */
export function Expiring({ read }: { readonly read: SectionRead }) {
  return (
    <InboxSection
      id="expiring"
      title="About to expire"
      total={read.data?.total ?? 0}
      more={<More read={read} search={{ expires: 'three-days', sort: 'lifespanEndAt' }} />}
      error={read.data ? null : read.error}
      refetch={read.refetch}
    >
      {read.data?.rows.map((environment) =>
        environmentRow(
          environment,
          expiring,
          <p>destroyed {environment.lifespanEndAt && <TimeAgo at={environment.lifespanEndAt} />}</p>,
          <Open to={`/environments/${environment.id}?tab=schedule`}>Change the end</Open>,
        ),
      )}
    </InboxSection>
  );
}

const offline: StatusLook = { word: 'Offline', tone: 'fail', shape: 'cross' };
const degraded: StatusLook = { word: 'Degraded', tone: 'wait', shape: 'diamond' };

interface AgentsOfflineProps {
  readonly read: AgentsRead;
  readonly agents: readonly Agent[];
}

/** Agents that run nothing now. */
export function AgentsOffline({ read, agents }: AgentsOfflineProps) {
  return (
    <InboxSection
      id="agents"
      title="Agents with problems"
      total={agents.length}
      error={read.data ? null : read.error}
      refetch={read.refetch}
    >
      {agents.map(({ agentKey, name, status, lastContactAt, health }) => (
        <InboxRow
          key={agentKey}
          look={status === 'DEGRADED' ? degraded : offline}
          name={name ?? agentKey}
          to="/agents"
          place={status === 'DEGRADED' ? 'Jobs wait, and it runs nothing' : 'No agent process is running'}
          action={<Open to="/agents">See agents</Open>}
        >
          <p className={rows.quiet}>
            {status === 'DEGRADED' && health?.problems[0] !== undefined ? (
              health.problems[0]
            ) : lastContactAt === undefined ? (
              'never connected'
            ) : (
              <>
                last heard from <TimeAgo at={lastContactAt} />
              </>
            )}
          </p>
        </InboxRow>
      ))}
    </InboxSection>
  );
}
