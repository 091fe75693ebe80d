/** Deployments of one environment as rows. */
import { Link, useNavigate } from '@tanstack/react-router';
import type { Deployment } from '#contract/deployments/shapes.ts';
import { deploymentLooks, Status } from '../../../design/status.tsx';
import { deploymentTypeWords, triggerWords } from '../../../design/words.ts';
import { type Column, DataTable } from '../../../ui/DataTable.tsx';
import { PlanCounts } from '../../../ui/PlanCounts.tsx';
import { Duration, TimeAgo } from '../../../ui/Time.tsx';
import classes from '../facts/environment.module.css';

const columns: readonly Column<Deployment>[] = [
  {
    id: 'type',
    head: 'Deployment',
    cell: ({ id, type, comment }) => (
      <>
        <Link to="/deployments/$deploymentId" params={{ deploymentId: id! }}>
          {deploymentTypeWords[type]}
        </Link>
        {comment ? (
          <p className={classes.comment} dir="auto">
            {comment}
          </p>
        ) : null}
      </>
    ),
  },
  { id: 'status', head: 'Status', cell: ({ status }) => <Status look={deploymentLooks[status]} /> },
  {
    id: 'plan',
    head: 'Changes',
    isMinor: true,
    cell: ({ planSummary, isPlanEmpty, type, status }) =>
      planSummary ? (
        <PlanCounts
          summary={planSummary}
          isPlanEmpty={isPlanEmpty}
          isDone={status === 'SUCCESS' && (type === 'deploy' || type === 'destroy')}
        />
      ) : (
        '–'
      ),
  },
  {
    id: 'who',
    head: 'Who',
    isMinor: true,
    cell: ({ startedByUser, trigger }) => (
      <>
        <bdi>{startedByUser?.name ?? 'The service'}</bdi>
        {trigger && trigger !== 'user' ? <p className={classes.comment}>{triggerWords[trigger]}</p> : null}
      </>
    ),
  },
  { id: 'when', head: 'Requested', cell: ({ queuedAt }) => (queuedAt ? <TimeAgo at={queuedAt} /> : '–') },
  {
    id: 'duration',
    head: 'Took',
    isNumber: true,
    isMinor: true,
    cell: ({ startedAt, finishedAt }) =>
      startedAt ? <Duration since={startedAt} until={finishedAt ?? undefined} /> : '–',
  },
];

export interface DeploymentTableProps {
  readonly label: string;
  readonly rows: readonly Deployment[];
}

export function DeploymentTable({ label, rows }: DeploymentTableProps) {
  const navigate = useNavigate();
  return (
    <DataTable
      label={label}
      columns={columns}
      rows={rows}
      idOf={({ id }) => id ?? ''}
      onOpen={({ id }) => void navigate({ to: '/deployments/$deploymentId', params: { deploymentId: id! } })}
    />
  );
}
