/** The variables of a set; saving sends what differs. */
import { Alert, Button } from '@mantine/core';
import { useState } from 'react';
import type { Variable } from '#contract/variables/shapes.ts';
import { errorText, fieldOf, fieldText } from '../../api/errors.ts';
import { useChange, useRead } from '../../api/queries.ts';
import { randomId } from '../../api/random-id.ts';
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

export interface SetVariablesProps {
  readonly id: string;
  readonly whyNot: string | undefined;
}

function useSetVariables(id: string, variables: readonly Variable[]) {
  const [edits, setEdits] = useState<readonly VariableRow[]>([]);
  const [isStrict, setIsStrict] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const rows = rowsWith([], variables, edits, { scope: 'SET', scopeId: id });
  const save = useChange('updateConfigurationSet', {
    refreshes: ['listVariables', 'getConfigurationSet', 'listConfigurationSets'],
    onSuccess: () => {
      setEdits([]);
      setIsStrict(false);
      showDone('The set was saved: environments use it from their next deployment on');
    },
    onError: (error) => {
      setFailure(error);
      return true;
    },
  });
  const wrong = rowOfField(fieldOf(failure), rows);
  const setRows = (next: readonly VariableRow[]) => {
    setFailure(undefined);
    setEdits(editsOf(next));
  };
  return {
    ...{ rows, isStrict, setRows },
    failure: wrong === undefined ? failure : undefined,
    errors: wrong === undefined ? {} : { [wrong]: fieldText(failure) },
    isTouched: edits.length > 0,
    isBusy: save.isPending,
    undo: () => setRows([]),
    submit: () => {
      setIsStrict(true);
      setFailure(undefined);
      if (isReady(editsOf(rows)))
        save.mutate({ params: { id }, body: { configurationPropertiesChanges: changesOf(rows) } });
    },
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
  const state = useSetVariables(id, variables);
  if (state.rows.length === 0)
    return <NoVariables {...props} onAdd={() => state.setRows([newRow(randomId())])} />;
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        state.submit();
      }}
    >
      {state.failure !== undefined && (
        <Alert color="red" role="alert" mb="md" title={errorText(state.failure).title}>
          {errorText(state.failure).text}
        </Alert>
      )}
      <VariablesEditor
        label="Variables of the set"
        rows={state.rows}
        onChange={state.setRows}
        errors={state.errors}
        isStrict={state.isStrict}
        whyNot={whyNot}
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

export function SetVariables(props: SetVariablesProps) {
  const { organizationId } = useSession();
  const variables = useRead('listVariables', { query: { organizationId, setId: props.id } });
  return <Loaded query={variables}>{(rows) => <Editor {...props} variables={rows} />}</Loaded>;
}
