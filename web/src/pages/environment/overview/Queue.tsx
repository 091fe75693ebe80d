/** The deployments that wait for their turn. */
import { useChange, usePage } from '../../../api/queries.ts';
import { deploymentTypeWords } from '../../../design/words.ts';
import { ActionButton } from '../../../ui/ActionButton.tsx';
import { TimeAgo } from '../../../ui/Time.tsx';
import { deploymentReads, type EnvironmentProps } from '../reads.ts';
import classes from '../environment.module.css';

export function Queue({ environment, rights }: EnvironmentProps) {
  const { id } = environment;
  const { data } = usePage('listDeployments', { params: { id }, query: { statuses: 'QUEUED' } });
  const cancel = useChange('cancelDeployment', { refreshes: deploymentReads });
  const cancelAll = useChange('cancelQueuedDeployments', { refreshes: deploymentReads });
  const whyNot = rights.whyNot('RUN_PLAN');
  const rows = (data?.rows ?? []).toReversed();
  if (rows.length === 0) return null;
  return (
    <section className={classes.section} aria-label="Queue">
      <div className={classes.head}>
        <h2>Queue</h2>
        {rows.length > 1 && (
          <ActionButton
            size="compact-xs"
            variant="default"
            whyNot={whyNot}
            loading={cancelAll.isPending}
            onClick={() => cancelAll.mutate({ params: { id }, query: { status: 'QUEUED' } })}
          >
            Cancel all {data?.total}
          </ActionButton>
        )}
      </div>
      <ol className={classes.queue}>
        {rows.map((row) => (
          <li key={row.id}>
            <span>
              {deploymentTypeWords[row.type]} by <bdi>{row.startedByUser?.name ?? 'the service'}</bdi>, asked{' '}
              {row.queuedAt && <TimeAgo at={row.queuedAt} />}
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
