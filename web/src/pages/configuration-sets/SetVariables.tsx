/** The variables of a set; saving sends what differs. */
import type { Variable } from '#contract/variables/shapes.ts';
import { showDone } from '../../api/messages.ts';
import { useChange, useRead } from '../../api/queries.ts';
import { randomId } from '../../api/random-id.ts';
import { useSession } from '../../api/session.ts';
import { changesOf, newRow } from '../../forms/variables/rows.ts';
import { useVariableEdits, VariablesForm } from '../../forms/variables/VariablesForm.tsx';
import { rowsWith } from '../../forms/variables/variable-edits.ts';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { callOf } from '../../ui/calls.ts';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Loaded } from '../../ui/Loaded.tsx';

export interface SetVariablesProps {
  readonly id: string;
  readonly whyNot: string | undefined;
}

function useSetVariables(id: string, variables: readonly Variable[]) {
  const editing = useVariableEdits((edits) => rowsWith([], variables, edits, { scope: 'SET', scopeId: id }));
  const save = useChange('updateConfigurationSet', {
    refreshes: ['listVariables', 'getConfigurationSet', 'listConfigurationSets'],
    onSuccess: () => {
      editing.onSaved();
      showDone('The set was saved: environments use it from their next deployment on');
    },
    onRefreshed: editing.onRefreshed,
    onError: editing.onRefused,
  });
  const body = () => ({ configurationPropertiesChanges: changesOf(editing.rows) });
  return {
    editing,
    isBusy: save.isPending,
    onSave: () => save.mutate({ params: { id }, body: body() }),
  };
}

function NoVariables({ id, whyNot, onAdd }: SetVariablesProps & { readonly onAdd: () => void }) {
  const body = { configurationPropertiesChanges: [{ name: 'region', value: 'eu-west-1', type: 1 as const }] };
  return (
    <EmptyState
      title="The set has no variables yet"
      action={
        <ActionButton whyNot={whyNot} onClick={onAdd}>
          Add a variable
        </ActionButton>
      }
      call={callOf('Add a variable', 'updateConfigurationSet', { params: { id }, body }, [
        ...['set', 'edit', id, '--var', 'region=eu-west-1'],
      ])}
    />
  );
}

function Editor({ variables, ...props }: SetVariablesProps & { readonly variables: readonly Variable[] }) {
  const { id, whyNot } = props;
  const saving = useSetVariables(id, variables);
  const { rows, setRows } = saving.editing;
  if (rows.length === 0) return <NoVariables {...props} onAdd={() => setRows([newRow(randomId())])} />;
  return <VariablesForm {...saving} label="Variables of the set" whyNot={whyNot} />;
}

export function SetVariables(props: SetVariablesProps) {
  const { organizationId } = useSession();
  const variables = useRead('listVariables', { query: { organizationId, setId: props.id } });
  return <Loaded query={variables}>{(rows) => <Editor {...props} variables={rows} />}</Loaded>;
}
