/** Summary of an environment: its properties, the last event, and the next one. */
import { Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { usePage } from '../../../api/queries.ts';
import { callOf } from '../../../ui/calls.ts';
import { EmptyState } from '../../../ui/EmptyState.tsx';
import classes from '../facts/environment.module.css';
import type { EnvironmentProps } from '../facts/reads.ts';
import { LatestSentence } from '../facts/Sentence.tsx';
import { DeploymentTable } from '../overview/DeploymentTable.tsx';
import { Description } from '../overview/Description.tsx';
import { MadeOf } from '../overview/MadeOf.tsx';
import { Queue } from '../overview/Queue.tsx';

const Durations = lazy(() => import('../overview/Durations.tsx'));

const recent = 20;
const shownRows = 5;

function Latest({ environment }: EnvironmentProps) {
  const { latestDeploymentLog: latest } = environment;
  if (!latest?.id || (!latest.comment && !latest.error)) return null;
  return (
    <section className={classes.section} aria-label="Latest deployment">
      <div className={classes.head}>
        <h2>Latest deployment</h2>
        <Link to="/deployments/$deploymentId" params={{ deploymentId: latest.id }}>
          Open
        </Link>
      </div>
      <p className={classes.sentence}>
        <LatestSentence latest={latest} />
        {latest.comment ? (
          <>
            {': '}
            <q dir="auto">{latest.comment}</q>
          </>
        ) : (
          '.'
        )}
      </p>
      {latest.error && <pre className={classes.errorText}>{latest.error.message}</pre>}
    </section>
  );
}

function Recent({ environment }: EnvironmentProps) {
  const { id } = environment;
  const { data } = usePage('listDeployments', { params: { id }, query: { limit: recent } });
  const rows = (data?.rows ?? []).filter(({ status }) => status !== 'NEVER_DEPLOYED');
  if (data !== undefined && rows.length === 0)
    return (
      <EmptyState
        title="It was never deployed"
        call={callOf('Deploy it', 'deployEnvironment', { params: { id }, body: {} }, [
          'deploy',
          id,
          '--follow',
        ])}
      >
        The first deployment reads the code and creates what it describes.
      </EmptyState>
    );
  return (
    <section className={classes.section} aria-label="Recent deployments">
      <div className={classes.head}>
        <h2>Recent deployments</h2>
        {(data?.total ?? 0) > shownRows && (
          <Link to="." search={{ tab: 'deployments' } as never}>
            All {data?.total}
          </Link>
        )}
      </div>
      {rows.length > 2 && (
        <Suspense fallback={<div className={classes.chartSpace} />}>
          <Durations deployments={rows} />
        </Suspense>
      )}
      <DeploymentTable label="Recent deployments" rows={rows.slice(0, shownRows)} />
    </section>
  );
}

export default function OverviewTab(props: EnvironmentProps) {
  const { environment } = props;
  return (
    <div className={classes.columns}>
      <div>
        <Latest {...props} />
        {environment.queueLength > 0 && <Queue {...props} />}
        <Recent {...props} />
      </div>
      <aside>
        <Description {...props} />
        <MadeOf {...props} />
      </aside>
    </div>
  );
}
