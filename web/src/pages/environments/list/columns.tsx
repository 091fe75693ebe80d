/** The columns of the list of environments. */

import { Stack } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Environment } from '#contract/environments/shapes.ts';
import { moneyChangeText } from '../../../design/money.ts';
import { driftLooks, environmentLooks, Status } from '../../../design/status.tsx';
import { deploymentTypeWords, toolName } from '../../../design/words.ts';
import type { Column } from '../../../ui/DataTable.tsx';
import { TimeAgo } from '../../../ui/Time.tsx';
import classes from './list.module.css';

function Name({ row }: { readonly row: Environment }) {
  return (
    <Stack gap={2} align="flex-start">
      <Link to="/environments/$environmentId" params={{ environmentId: row.id }} className={classes.name!}>
        <bdi>{row.name}</bdi>
      </Link>
      <span className={classes.second}>
        <bdi>{row.projectName}</bdi>
        {row.tags.map((tag) => (
          <span key={tag} className={classes.tag}>
            <bdi>{tag}</bdi>
          </span>
        ))}
      </span>
    </Stack>
  );
}

function waitingSince({ latestDeploymentLog: run }: Environment): string | null | undefined {
  return run.waitingFor?.since ?? run.startedAt ?? run.queuedAt;
}

function StatusCell({ row }: { readonly row: Environment }) {
  const since = row.status === 'WAITING_FOR_USER' ? waitingSince(row) : undefined;
  const notes = [
    ...(row.isLocked ? ['locked'] : []),
    ...(row.isArchived ? ['archived'] : []),
    ...(row.queueLength > 0 ? [`${row.queueLength} in the queue`] : []),
  ];
  return (
    <Stack gap={2} align="flex-start">
      <Status look={environmentLooks[row.status]} />
      {(since || notes.length > 0) && (
        <span className={classes.second}>
          {since && (
            <span>
              requested <TimeAgo at={since} />
            </span>
          )}
          {notes.map((note) => (
            <span key={note}>{note}</span>
          ))}
        </span>
      )}
    </Stack>
  );
}

function LastRun({ row: { latestDeploymentLog: run } }: { readonly row: Environment }) {
  const at = run.finishedAt ?? run.startedAt ?? run.queuedAt;
  if (run.status === 'NEVER_DEPLOYED' || !at) return <span className={classes.none}>none</span>;
  return (
    <Stack gap={2} align="flex-start">
      <Link
        to="/deployments/$deploymentId"
        params={{ deploymentId: run.id ?? '' }}
        className={classes.plain!}
      >
        {deploymentTypeWords[run.type]}, <TimeAgo at={at} />
      </Link>
      <span className={classes.second}>
        <span>
          by <bdi>{run.startedByUser.name ?? run.startedByUser.email}</bdi>
        </span>
      </span>
    </Stack>
  );
}

function Cost({ row }: { readonly row: Environment }) {
  const { monthlyCostDiff: change, currency } = row.latestDeploymentLog.costEstimation ?? {};
  if (change === undefined) return <span className={classes.none}>–</span>;
  return <span title="Estimated change per month">{moneyChangeText(change, currency)}</span>;
}

function None() {
  return <span className={classes.none}>–</span>;
}

const quietDrifts: readonly string[] = ['NEVER_RUN', 'DISABLED'];

export const columns: readonly Column<Environment>[] = [
  { id: 'name', head: 'Name', sort: 'name', cell: (row) => <Name row={row} /> },
  { id: 'status', head: 'Status', sort: 'status', cell: (row) => <StatusCell row={row} /> },
  {
    id: 'drift',
    head: 'Drift',
    isMinor: true,
    cell: ({ driftStatus }) =>
      quietDrifts.includes(driftStatus) ? (
        <span className={classes.none}>{driftLooks[driftStatus].word}</span>
      ) : (
        <Status look={driftLooks[driftStatus]} />
      ),
  },
  { id: 'run', head: 'Last run', sort: 'updatedAt', isMinor: true, cell: (row) => <LastRun row={row} /> },
  {
    id: 'expires',
    head: 'Expires',
    sort: 'lifespanEndAt',
    isMinor: true,
    cell: ({ lifespanEndAt }) => (lifespanEndAt ? <TimeAgo at={lifespanEndAt} /> : <None />),
  },
  { id: 'cost', head: 'Cost', isNumber: true, isMinor: true, cell: (row) => <Cost row={row} /> },
  {
    id: 'type',
    head: 'Type',
    isMinor: true,
    cell: ({ latestDeploymentLog: { blueprintType } }) => toolName(blueprintType),
  },
];
