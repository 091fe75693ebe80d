/** Variables that are changed together: rows, what is wrong with them, and the button that saves them. */
import { Alert, Button } from '@mantine/core';
import { type ComponentProps, useRef, useState } from 'react';
import { errorText, fieldOf, fieldText } from '../../api/errors.ts';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { FormFoot } from '../Section.tsx';
import { useQuestionBeforeLeaving } from '../use-question-before-leaving.ts';
import { isReady, rowOfField } from './checks.ts';
import type { VariableFormRow } from './rows.ts';
import { useEdits } from './use-edits.ts';
import { VariablesEditor } from './VariablesEditor.tsx';
import { editsOf } from './variable-edits.ts';

/**
 * Edits, until they are saved.
 * @param rowsWith the rows that are there, with what was typed in them
 */
export function useVariableEdits(rowsWith: (edits: readonly VariableFormRow[]) => VariableFormRow[]) {
  const { edits, keep, unsaved, onSaved, onRefreshed } = useEdits();
  const [isStrict, setIsStrict] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const sent = useRef<readonly VariableFormRow[]>([]);
  const rows = rowsWith(edits);
  const wrong = rowOfField(fieldOf(failure), rows);
  const setRows = (next: readonly VariableFormRow[]) => {
    setFailure(undefined);
    keep(next);
  };
  return {
    ...{ rows, isStrict, setRows },
    isTouched: unsaved(edits) > 0,
    /** Problems that no row shows. */
    failure: wrong === undefined ? failure : undefined,
    errors: wrong === undefined ? {} : { [wrong]: fieldText(failure).replace(/^\d+\/\w+ /, '') },
    /** From here on, missing values are errors. @returns whether everything that was typed can be sent */
    check: (): boolean => {
      setIsStrict(true);
      setFailure(undefined);
      sent.current = editsOf(rows);
      return isReady(sent.current);
    },
    onSaved: () => {
      onSaved(sent.current);
      setIsStrict(false);
    },
    onRefreshed,
    /** For the error of a change. */
    onRefused: (error: unknown): true => {
      setFailure(error);
      return true;
    },
  };
}

type Editor = ComponentProps<typeof VariablesEditor>;

export interface VariablesFormProps extends Pick<Editor, 'label' | 'whyNot' | 'showsOrigin' | 'originOf'> {
  readonly editing: ReturnType<typeof useVariableEdits>;
  readonly isBusy: boolean;
  readonly onSave: () => void;
}

export function VariablesForm({ editing, isBusy, onSave, ...editor }: VariablesFormProps) {
  const { rows, setRows, errors, isStrict, failure, isTouched } = editing;
  const { whyNot } = editor;
  useQuestionBeforeLeaving(isTouched ? 'Leave without saving the changed variables?' : undefined);
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (editing.check()) onSave();
      }}
    >
      {failure !== undefined && (
        <Alert color="red" role="alert" mb="md" title={errorText(failure).title}>
          {errorText(failure).text}
        </Alert>
      )}
      <VariablesEditor {...editor} rows={rows} onChange={setRows} errors={errors} isStrict={isStrict} />
      {(isTouched || whyNot !== undefined) && (
        <FormFoot>
          <ActionButton type="submit" whyNot={whyNot} loading={isBusy}>
            Save
          </ActionButton>
          {isTouched && (
            <Button variant="default" onClick={() => setRows([])}>
              Undo all
            </Button>
          )}
        </FormFoot>
      )}
    </form>
  );
}
