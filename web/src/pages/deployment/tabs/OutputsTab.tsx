/** The outputs that a deployment left. */
import type { OutputValue } from '#contract/deployments/plan.ts';
import { outputsByName } from '#contract/deployments/unit-outputs.ts';
import { DataTable } from '../../../ui/DataTable.tsx';
import { EmptyState } from '../../../ui/EmptyState.tsx';
import { Loaded } from '../../../ui/Loaded.tsx';
import { type DeploymentReply, usePart } from '../facts/reads.ts';
import { ValueText } from '../plan/ValueText.tsx';
import { shownValue } from '../plan/values.ts';

type OutputRow = OutputValue & { readonly name: string };

export function OutputsTab({ deployment }: { readonly deployment: DeploymentReply }) {
  const query = usePart(deployment, 'output');
  return (
    <Loaded query={query}>
      {({ output }) => {
        const rows = Object.entries(outputsByName(output ?? null)).map(([name, value]) => ({
          name,
          ...value,
        }));
        if (rows.length === 0)
          return (
            <EmptyState title="No outputs">
              Outputs are values that the code exports. They appear once a deployment has ended.
            </EmptyState>
          );
        return (
          <DataTable<OutputRow>
            label="Outputs"
            rows={rows}
            idOf={({ name }) => name}
            columns={[
              { id: 'name', head: 'Name', cell: ({ name }) => <bdi className="mono">{name}</bdi> },
              {
                id: 'value',
                head: 'Value',
                cell: ({ value, sensitive }) => (
                  <ValueText value={sensitive ? { kind: 'sealed' } : shownValue(value)} />
                ),
              },
            ]}
          />
        );
      }}
    </Loaded>
  );
}
