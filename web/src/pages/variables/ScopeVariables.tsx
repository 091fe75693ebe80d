/** The variables that hold at a place: its own can be changed, those from further out can be overridden. */
import { Alert, Button } from '@mantine/core';
import { useState } from 'react';
import type { RepositoryVariable } from '#contract/repositories/shapes.ts';
import type { Variable } from '#contract/variables/shapes.ts';
import { errorText, fieldOf, fieldText } from '../../api/errors.ts';
import { useChange, useRead } from '../../api/queries.ts';
import { randomId } from '../../api/random-id.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { FormFoot } from '../../forms/Section.tsx';
import { editsOf, rowsWith } from '../../forms/variable-edits.ts';
import { isReady, rowOfField } from '../../forms/variables/checks.ts';
import { changesOf, newRow, type VariableRow } from '../../forms/variables/rows.ts';
import { VariablesEditor } from '../../forms/variables/VariablesEditor.tsx';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { callOf } from '../../ui/calls.ts';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { showDone } from '../../ui/messages.ts';
import { hereOf, listQueryOf, placeFlags, rightFor, type VariablesPlace } from './places.ts';
import { useOriginNames } from './use-origin-names.tsx';

export interface ScopeVariablesProps {
  readonly place: VariablesPlace;
  /** What the code of a template declares, where it could be read. */
  readonly definitions?: readonly RepositoryVariable[] | undefined;
}

/** What a save sends: changes with the place that they are for. */
function writesOf(rows: readonly VariableRow[], place: VariablesPlace, organizationId: string) {
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
  const [edits, setEdits] = useState<readonly VariableRow[]>([]);
  const [errors, setErrors] = useState<Readonly<Record<string, string | undefined>>>({});
  const [failure, setFailure] = useState<unknown>();
  const [isStrict, setIsStrict] = useState(false);
  const rows = rowsWith(definitions, variables, edits, hereOf(place));
  const forget = () => {
    setErrors({});
    setFailure(undefined);
  };
  const change = useChange('saveVariables', {
    refreshes: reads,
    onSuccess: (saved) => {
      showDone(saved.length === 1 ? 'One variable was saved' : `${saved.length} variables were saved`);
      setEdits([]);
      setIsStrict(false);
    },
    onError: (error) => {
      const key = rowOfField(fieldOf(error), rows);
      if (key === undefined) setFailure(error);
      else setErrors({ [key]: fieldText(error).replace(/^\d+\/\w+ /, '') });
      return true;
    },
  });
  return {
    ...{ rows, errors, failure, isStrict },
    isTouched: edits.length > 0,
    isBusy: change.isPending,
    setRows: (next: readonly VariableRow[]) => {
      forget();
      setEdits(editsOf(next));
    },
    undo: () => {
      forget();
      setEdits([]);
    },
    save: () => {
      setIsStrict(true);
      forget();
      if (isReady(editsOf(rows))) change.mutate({ body: writesOf(rows, place, organizationId) });
    },
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
      title="No variables here, and none from further out"
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
  const state = useScopeVariables(props, variables);
  const originOf = useOriginNames();
  const whyNot = rights.whyNot(right);
  if (state.rows.length === 0)
    return (
      <Empty
        place={props.place}
        {...(whyNot === undefined ? { onAdd: () => state.setRows([newRow(randomId())]) } : {})}
      />
    );
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        state.save();
      }}
    >
      {state.failure !== undefined && (
        <Alert color="red" role="alert" mb="md" title={errorText(state.failure).title}>
          {errorText(state.failure).text}
        </Alert>
      )}
      <VariablesEditor
        label="Variables"
        rows={state.rows}
        onChange={state.setRows}
        errors={state.errors}
        isStrict={state.isStrict}
        whyNot={whyNot}
        showsOrigin
        originOf={originOf}
      />
      {(state.isTouched || whyNot !== undefined) && (
        <FormFoot>
          <ActionButton type="submit" whyNot={whyNot} loading={state.isBusy}>
            Save
          </ActionButton>
          {state.isTouched && (
            <Button variant="default" onClick={state.undo}>
              Undo all
            </Button>
          )}
        </FormFoot>
      )}
    </form>
  );
}

export function ScopeVariables(props: ScopeVariablesProps) {
  const { organizationId } = useSession();
  const variables = useRead('listVariables', { query: listQueryOf(props.place, organizationId) });
  return (
    <Loaded query={variables}>{(rows) => <Editor key={props.place.id} {...props} variables={rows} />}</Loaded>
  );
}
