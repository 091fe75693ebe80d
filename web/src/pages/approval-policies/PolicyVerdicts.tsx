/** The latest verdicts of an approval policy. */

import { Link } from '@tanstack/react-router';
import type { GivenVerdict } from '#contract/approval-policies/shapes.ts';
import type { ApprovalPolicy } from '#contract/custom-flows/shapes.ts';
import { useRead } from '../../api/queries.ts';
import { Status, verdictLooks } from '../../design/status.tsx';
import { deploymentTypeWords } from '../../design/words.ts';
import records from '../../records/records.module.css';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { TimeAgo } from '../../ui/Time.tsx';
import classes from './policies.module.css';
import { messagesOf } from './policy-words.ts';

const columns: Column<GivenVerdict>[] = [
  {
    id: 'environment',
    head: 'Environment',
    cell: ({ environmentName, deploymentId, deploymentType, round }) => (
      <>
        <Link to="/deployments/$deploymentId" params={{ deploymentId }} className={records.name!}>
          <bdi>{environmentName}</bdi>
        </Link>
        <div className={records.faint}>
          {deploymentTypeWords[deploymentType]}
          {round > 1 && `, after approval ${round - 1}`}
        </div>
      </>
    ),
  },
  { id: 'decision', head: 'Verdict', cell: ({ decision }) => <Status look={verdictLooks[decision]} /> },
  {
    id: 'messages',
    head: 'Messages',
    cell: (verdict) => (
      <ul className={classes.messages}>
        {messagesOf(verdict).map((message) => (
          <li key={message}>
            <bdi>{message}</bdi>
          </li>
        ))}
      </ul>
    ),
  },
  { id: 'at', head: 'When', isMinor: true, cell: ({ at }) => <TimeAgo at={at} /> },
];

export function PolicyVerdicts({ policy: { id } }: { readonly policy: ApprovalPolicy }) {
  const verdicts = useRead('listPolicyVerdicts', { params: { id }, query: { limit: 50 } });
  return (
    <Loaded query={verdicts}>
      {(all) =>
        all.length === 0 ? (
          <EmptyState title="No plan has been evaluated yet">
            Verdicts appear here as soon as deployments start where it is assigned.
          </EmptyState>
        ) : (
          <DataTable
            label="Verdicts"
            columns={columns}
            rows={all}
            idOf={({ deploymentId, round }) => `${deploymentId} ${round}`}
          />
        )
      }
    </Loaded>
  );
}
