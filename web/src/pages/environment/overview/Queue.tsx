/** The deployments that wait for their turn. */
import { useState } from 'react';
import { useChange, usePage } from '../../../api/queries.ts';
import { deploymentTypeWords } from '../../../design/words.ts';
import { ActionButton } from '../../../ui/ActionButton.tsx';
import { Confirm } from '../../../ui/Confirm.tsx';
import { TimeAgo } from '../../../ui/Time.tsx';
import classes from '../facts/environment.module.css';
import { deploymentReads, type EnvironmentProps } from '../facts/reads.ts';

function CancelAll({ id, total, whyNot }: { id: string; total: number; whyNot: string | undefined }) {
  const [isAsking, setAsking] = useState(false);
  const cancelAll = useChange('cancelQueuedDeployments', {
    refreshes: deploymentReads,
    onSuccess: () => setAsking(false),
  });
  return (
    <>
      <ActionButton size="compact-xs" variant="default" whyNot={whyNot} onClick={() => setAsking(true)}>
        Cancel all {total}
      </ActionButton>
      <Confirm
        isOpen={isAsking}
        title={`Cancel ${total} queued deployments`}
        verb="Cancel all"
        isBusy={cancelAll.isPending}
        onConfirm={() => cancelAll.mutate({ params: { id }, query: { status: 'QUEUED' } })}
        onClose={() => setAsking(false)}
      >
        <p>What is running or waits for approval continues. Cancelled deployments cannot be resumed.</p>
      </Confirm>
    </>
  );
}

export function Queue({ environment, rights }: EnvironmentProps) {
  const { id } = environment;
  const { data } = usePage('listDeployments', { params: { id }, query: { statuses: 'QUEUED' } });
  const cancel = useChange('cancelDeployment', { refreshes: deploymentReads });
  const whyNot = rights.whyNot('RUN_PLAN');
  const rows = (data?.rows ?? []).toReversed();
  if (rows.length === 0) return null;
  return (
    <section className={classes.section} aria-label="Queue">
      <div className={classes.head}>
        <h2>Queue</h2>
        {rows.length > 1 && <CancelAll id={id} total={data?.total ?? rows.length} whyNot={whyNot} />}
      </div>
      <ol className={classes.queue}>
        {rows.map((row) => (
          <li key={row.id}>
            <span>
              {deploymentTypeWords[row.type]} by <bdi>{row.startedByUser?.name ?? 'the service'}</bdi>,
              requested {row.queuedAt && <TimeAgo at={row.queuedAt} />}
              {row.comment ? (
                <>
                  : <q dir="auto">{row.comment}</q>
                </>
              ) : null}
            </span>
            <ActionButton
              size="compact-xs"
              variant="subtle"
              whyNot={whyNot}
              onClick={() => cancel.mutate({ params: { id: row.id ?? '' } })}
            >
              Cancel
            </ActionButton>
          </li>
        ))}
      </ol>
    </section>
  );
}
