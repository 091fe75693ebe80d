/** The resources that are there after a deployment, or so far. */
import type { Resource } from '#contract/deployments/plan.ts';
import { isTerminal } from '#contract/life-cycle/life-cycle.ts';
import { useLiveResources } from '../../../api/live.ts';
import { useRead } from '../../../api/queries.ts';
import { DataTable } from '../../../ui/DataTable.tsx';
import { EmptyState } from '../../../ui/EmptyState.tsx';
import { Loaded } from '../../../ui/Loaded.tsx';
import type { DeploymentReply } from '../facts/reads.ts';

export function ResourcesTab({ deployment }: { readonly deployment: DeploymentReply }) {
  const query = useRead('listDeploymentResources', { params: { id: deployment.id ?? '' } });
  useLiveResources(isTerminal(deployment.status) ? undefined : deployment.id);
  return (
    <Loaded query={query}>
      {(rows) =>
        rows.length === 0 ? (
          <EmptyState title="No resources">
            Resources appear here while the tool makes them, and stay as they were when the deployment ended.
          </EmptyState>
        ) : (
          <DataTable<Resource>
            label="Resources"
            rows={rows}
            idOf={({ moduleName, type, name, provider }) => [moduleName, type, name, provider].join(' ')}
            columns={[
              { id: 'type', head: 'Type', cell: ({ type }) => <bdi className="mono">{type}</bdi> },
              { id: 'name', head: 'Name', cell: ({ name }) => <bdi>{name}</bdi> },
              {
                id: 'module',
                head: 'Module',
                cell: ({ moduleName }) => <bdi>{moduleName}</bdi>,
                isMinor: true,
              },
              {
                id: 'provider',
                head: 'Provider',
                cell: ({ provider }) => <bdi>{provider}</bdi>,
                isMinor: true,
              },
            ]}
          />
        )
      }
    </Loaded>
  );
}
