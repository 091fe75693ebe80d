/** Whether what is there still is what the code describes: when it was checked, what differs, and why. */

import { Group } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import type { Plan } from '#contract/deployments/plan.ts';
import { useChange, usePage } from '../../../api/queries.ts';
import { deploymentLooks, driftLooks, Status } from '../../../design/status.tsx';
import { ActionButton } from '../../../ui/ActionButton.tsx';
import { callOf } from '../../../ui/calls.ts';
import { EmptyState } from '../../../ui/EmptyState.tsx';
import { Loaded } from '../../../ui/Loaded.tsx';
import { useSearchState } from '../../../ui/search.ts';
import { TimeAgo } from '../../../ui/Time.tsx';
import { Findings } from '../../deployment/parts/Findings.tsx';
import { Remediation } from '../../deployment/parts/Remediation.tsx';
import { causeWords } from '../drift/causes.ts';
import { DriftSchedule } from '../drift/DriftSchedule.tsx';
import classes from '../facts/environment.module.css';
import { isOpen, whyNotStart } from '../facts/facts.ts';
import { deploymentReads, type EnvironmentProps, type LatestDeploymentReply } from '../facts/reads.ts';

const PlanTab = lazy(async () => ({ default: (await import('../../deployment/plan/PlanTab.tsx')).PlanTab }));

function Actions({ environment, rights, running }: EnvironmentProps & { readonly running: boolean }) {
  const { id, driftStatus } = environment;
  const [, setSearch] = useSearchState();
  const check = useChange('deployEnvironment', { refreshes: deploymentReads });
  return (
    <Group gap="xs">
      <ActionButton
        size="xs"
        variant="default"
        loading={check.isPending}
        whyNot={
          whyNotStart(environment, 'driftDetection', rights) ??
          (running ? 'A check is under way.' : undefined)
        }
        onClick={() => check.mutate({ params: { id }, body: { deploymentType: 'driftDetection' } })}
      >
        Check now
      </ActionButton>
      {driftStatus === 'DRIFTED' && (
        <ActionButton
          size="xs"
          whyNot={whyNotStart(environment, 'deploy', rights)}
          onClick={() => setSearch({ do: 'deploy' })}
        >
          Repair by a deployment …
        </ActionButton>
      )}
    </Group>
  );
}

/** Commits that were not applied explain a drift as well as changes in the cloud do. */
function Commits({ check }: { readonly check: LatestDeploymentReply }) {
  const commits = check.driftCause?.unappliedCommits ?? [];
  if (commits.length === 0) return null;
  return (
    <>
      <p>Commits that were not deployed:</p>
      <ul className={classes.commits}>
        {commits.map(({ commitHash, timestamp, userEmail }) => (
          <li key={commitHash}>
            <code>{commitHash.slice(0, 12)}</code> <bdi>{userEmail}</bdi> <TimeAgo at={timestamp} />
          </li>
        ))}
      </ul>
    </>
  );
}

/** @param isOver whether a deployment has ended the drift since the check */
function Found({ check, isOver }: { readonly check: LatestDeploymentReply; readonly isOver: boolean }) {
  const plan: Plan | undefined = check.plan ?? undefined;
  const hasPlan = check.driftDetected || (plan?.settled?.length ?? 0) > 0;
  return (
    <>
      <Findings diagnostics={check.diagnostics} />
      {check.driftDetected && (
        <>
          {isOver && (
            <p className={classes.sentence}>A deployment has repaired the drift. The check had found:</p>
          )}
          <p className={classes.sentence}>{causeWords(check)}</p>
          <Commits check={check} />
          <Remediation check={check} />
        </>
      )}
      {plan && hasPlan && (
        <Suspense>
          <PlanTab
            plan={plan}
            isPlanEmpty={check.isPlanEmpty}
            isWithoutDrift={check.driftDetected === false}
          />
        </Suspense>
      )}
    </>
  );
}

function LastCheck(props: EnvironmentProps & { readonly check: LatestDeploymentReply }) {
  const { environment, check } = props;
  const running = isOpen(check);
  const at = check.finishedAt ?? check.queuedAt;
  return (
    <section className={classes.section} aria-label="Last check">
      <div className={classes.head}>
        <Group gap="sm">
          <Status
            look={
              running || check.status !== 'SUCCESS'
                ? deploymentLooks[check.status]
                : driftLooks[environment.driftStatus]
            }
            filled
          />
          <span>
            <Link to="/deployments/$deploymentId" params={{ deploymentId: check.id! }}>
              {running ? 'Check under way' : 'Last check'}
            </Link>{' '}
            {at && <TimeAgo at={at} />}
            {check.trigger === 'driftDetection' ? ', by the schedule' : ''}
          </span>
        </Group>
        <Actions {...props} running={running} />
      </div>
      {check.error && <pre className={classes.errorText}>{check.error.message}</pre>}
      <Found check={check} isOver={environment.driftStatus === 'OK'} />
    </section>
  );
}

function NeverChecked(props: EnvironmentProps) {
  const { id } = props.environment;
  const input = { params: { id }, body: { deploymentType: 'driftDetection' } } as const;
  return (
    <div className={classes.section}>
      <EmptyState
        title="It was never checked for drift"
        call={callOf('Check for drift', 'deployEnvironment', input, ['drift', id])}
        action={<Actions {...props} running={false} />}
      >
        A check compares what is there with the state and the code, and changes nothing.
      </EmptyState>
    </div>
  );
}

export default function DriftTab(props: EnvironmentProps) {
  const { id } = props.environment;
  const query = usePage('listDeployments', {
    params: { id },
    query: { deploymentTypes: 'driftDetection', limit: 1 },
  });
  return (
    <>
      <Loaded query={query}>
        {({ rows: [check] }) =>
          check === undefined ? <NeverChecked {...props} /> : <LastCheck {...props} check={check} />
        }
      </Loaded>
      <DriftSchedule {...props} />
    </>
  );
}
