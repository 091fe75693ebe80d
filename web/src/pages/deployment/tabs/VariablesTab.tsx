/** The variables that a deployment ran with; values of sensitive ones stay hidden. */
import { DataTable } from '../../../ui/DataTable.tsx';
import { EmptyState } from '../../../ui/EmptyState.tsx';
import { Loaded } from '../../../ui/Loaded.tsx';
import { type DeploymentReply, usePart } from '../facts/reads.ts';
import { ValueText } from '../plan/ValueText.tsx';
import { shownValue } from '../plan/values.ts';

type ShownVariable = NonNullable<DeploymentReply['variables']>[number];

/** Place where it was set, in words. */
const scopeWords: Readonly<Record<string, string>> = {
  SET: 'Configuration set',
  GLOBAL: 'Organization',
  BLUEPRINT: 'Template',
  SUB_ENVIRONMENT_BLUEPRINT: 'Template of a part',
  PROJECT: 'Project',
  WORKFLOW: 'Workflow',
  ENVIRONMENT: 'Environment',
  DEPLOYMENT: 'This deployment',
};

export function VariablesTab({ deployment }: { readonly deployment: DeploymentReply }) {
  const query = usePart(deployment, 'variables');
  return (
    <Loaded query={query}>
      {({ variables = [] }) =>
        variables.length === 0 ? (
          <EmptyState title="No variables">The deployment ran with the defaults of the code.</EmptyState>
        ) : (
          <DataTable<ShownVariable>
            label="Variables"
            rows={variables}
            idOf={({ id, name, type }) => id ?? `${type} ${name}`}
            columns={[
              { id: 'name', head: 'Name', cell: ({ name }) => <bdi className="mono">{name}</bdi> },
              {
                id: 'value',
                head: 'Value',
                cell: ({ value, isSensitive }) => (
                  <ValueText value={isSensitive ? { kind: 'sealed' } : shownValue(value)} />
                ),
              },
              {
                id: 'kind',
                head: 'Kind',
                cell: ({ type }) => (type === 1 ? 'Terraform' : 'Environment'),
                isMinor: true,
              },
              { id: 'scope', head: 'Set in', cell: ({ scope }) => scopeWords[scope] ?? scope, isMinor: true },
            ]}
          />
        )
      }
    </Loaded>
  );
}
