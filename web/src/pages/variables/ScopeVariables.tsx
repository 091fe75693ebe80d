/** The variables that hold at a place: its own can be changed, those from further out can be overridden. */
import { Button } from '@mantine/core';
import type { RepositoryVariable } from '#contract/repositories/shapes.ts';
import type { Variable } from '#contract/variables/shapes.ts';
import { showDone } from '../../api/messages.ts';
import { useChange, useRead } from '../../api/queries.ts';
import { randomId } from '../../api/random-id.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { changesOf, newRow, type VariableFormRow } from '../../forms/variables/rows.ts';
import { useVariableEdits, VariablesForm } from '../../forms/variables/VariablesForm.tsx';
import { rowsWith } from '../../forms/variables/variable-edits.ts';
import { callOf } from '../../ui/calls.ts';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { hereOf, listQueryOf, placeFlags, rightFor, type VariablesPlace } from './places.ts';
import { useOriginNames } from './use-origin-names.tsx';

export interface ScopeVariablesProps {
  readonly place: VariablesPlace;
  /** Declarations in the code of a template, if it could be read. */
  readonly definitions?: readonly RepositoryVariable[] | undefined;
}

/** Request of a save: changes with the place that they are for. */
function writesOf(rows: readonly VariableFormRow[], place: VariablesPlace, organizationId: string) {
  const { scope, scopeId } = hereOf(place);
  return changesOf(rows).map((change) => ({
    ...change,
    scope,
    organizationId,
    ...(scopeId === undefined ? {} : { scopeId }),
  }));
}

const reads = ['listVariables', 'getVariable'] as const;

/** Rows, what was typed, and saving. */
function useScopeVariables({ place, definitions = [] }: ScopeVariablesProps, variables: readonly Variable[]) {
  const { organizationId } = useSession();
  const editing = useVariableEdits((edits) => rowsWith(definitions, variables, edits, hereOf(place)));
  const change = useChange('saveVariables', {
    refreshes: reads,
    onSuccess: (saved) => {
      showDone(saved.length === 1 ? 'One variable was saved' : `${saved.length} variables were saved`);
      editing.onSaved();
    },
    onRefreshed: editing.onRefreshed,
    onError: editing.onRefused,
  });
  return {
    editing,
    isBusy: change.isPending,
    onSave: () => change.mutate({ body: writesOf(editing.rows, place, organizationId) }),
  };
}

function Empty({ place, onAdd }: { readonly place: VariablesPlace; readonly onAdd?: () => void }) {
  const { organizationId } = useSession();
  const { scope, scopeId } = hereOf(place);
  const body = [
    { name: 'region', value: 'eu-west-1', type: 1, scope, organizationId, ...(scopeId ? { scopeId } : {}) },
  ] as const;
  return (
    <EmptyState
      title="No variables here, and none inherited"
      action={onAdd && <Button onClick={onAdd}>Add a variable</Button>}
      call={callOf('Set a variable', 'saveVariables', { body: [...body] }, [
        ...['variables', 'set', ...placeFlags(place), '--var', 'region=eu-west-1'],
      ])}
    />
  );
}

function Editor({ variables, ...props }: ScopeVariablesProps & { readonly variables: readonly Variable[] }) {
  const { organizationId } = useSession();
  const { right, place } = rightFor(props.place, organizationId);
  const rights = useRights(place);
  const saving = useScopeVariables(props, variables);
  const originOf = useOriginNames();
  const whyNot = rights.whyNot(right);
  const { rows, setRows } = saving.editing;
  const add = { onAdd: () => setRows([newRow(randomId())]) };
  if (rows.length === 0) return <Empty place={props.place} {...(whyNot === undefined ? add : {})} />;
  return <VariablesForm {...saving} label="Variables" whyNot={whyNot} showsOrigin originOf={originOf} />;
}

export function ScopeVariables(props: ScopeVariablesProps) {
  const { organizationId } = useSession();
  const variables = useRead('listVariables', { query: listQueryOf(props.place, organizationId) });
  return (
    <Loaded query={variables}>{(rows) => <Editor key={props.place.id} {...props} variables={rows} />}</Loaded>
  );
}
