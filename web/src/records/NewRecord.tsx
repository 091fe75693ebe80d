/** The dialog that stores something, and opens it. */
import { type FormValidateInput, type UseFormReturnType, useForm } from '@mantine/form';
import type { ReactNode } from 'react';
import type { OperationName } from '#contract/operations.ts';
import { showDone } from '../api/messages.ts';
import type { QueryInput, Reply } from '../api/queries.ts';
import { useOpenRow } from './Detail.tsx';
import { FormDialog } from './FormDialog.tsx';
import { useChangeForm } from './use-change-form.ts';

export interface NewRecordProps<Name extends OperationName, Values extends Record<string, unknown>> {
  readonly title: string;
  readonly lead?: string;
  readonly verb: string;
  /** The message when it is stored. */
  readonly done: string;
  readonly operation: Name;
  readonly refreshes: readonly OperationName[];
  readonly initialValues: Values;
  readonly validate?: FormValidateInput<Values>;
  readonly inputOf: (values: Values) => QueryInput<Name>;
  /** Name in the address. */
  readonly idOf: (reply: Reply<Name>) => string;
  readonly onClose: () => void;
  readonly children: (form: UseFormReturnType<Values>) => ReactNode;
}

export function NewRecord<Name extends OperationName, Values extends Record<string, unknown>>({
  operation,
  refreshes,
  initialValues,
  validate = {},
  inputOf,
  idOf,
  done,
  children,
  ...dialog
}: NewRecordProps<Name, Values>) {
  const { open } = useOpenRow();
  const form = useForm<Values>({ initialValues, validate });
  const { change, problem } = useChangeForm(operation, {
    form,
    refreshes,
    onSuccess: (reply) => {
      showDone(done);
      dialog.onClose();
      open(idOf(reply));
    },
  });
  return (
    <FormDialog
      {...dialog}
      isBusy={change.isPending}
      problem={problem}
      onSubmit={form.onSubmit((values) => change.mutate(inputOf(values)))}
    >
      {children(form)}
    </FormDialog>
  );
}
