/** The settings of something stored, which others may change at the same time. */
import { Stack } from '@mantine/core';
import { type FormValidateInput, type UseFormReturnType, useForm } from '@mantine/form';
import type { ReactNode } from 'react';
import type { OperationName } from '#contract/operations.ts';
import { showDone } from '../api/messages.ts';
import type { QueryInput, Reply, Tagged } from '../api/queries.ts';
import { nothingChanged } from '../forms/SaveRow.tsx';
import { useQuestionBeforeLeaving } from '../forms/use-question-before-leaving.ts';
import { ActionButton } from '../ui/ActionButton.tsx';
import { StaleAlert } from './StaleAlert.tsx';
import { useChangeForm } from './use-change-form.ts';
import { settle, useEdited } from './use-edited.ts';

/** The rule of fields that must not be empty. */
export const validateName = (name: string): string | null =>
  name.trim() === '' ? 'A name is required.' : null;

export interface RecordFormProps<Name extends OperationName, Data, Values extends Record<string, unknown>> {
  /** Without a tag, the last change wins. */
  readonly found: Tagged<Data>;
  readonly valuesOf: (data: Data) => Values;
  readonly validate?: FormValidateInput<Values>;
  readonly operation: Name;
  readonly refreshes: readonly OperationName[];
  readonly inputOf: (values: Values) => Omit<QueryInput<Name>, 'ifMatch'>;
  /** The values after a change; default: those that were sent. */
  readonly storedOf?: (sent: Values, reply: Reply<Name>) => Values;
  /** The message after a change. */
  readonly done: string;
  readonly whyNot?: string | undefined;
  /** On the button; default: Save. */
  readonly verb?: string;
  /** Of the button; default: one among several of a page. */
  readonly variant?: 'default' | 'filled';
  /** The question to people who leave the page without saving. */
  readonly question?: string;
  readonly gap?: 'sm' | 'md';
  readonly maxWidth?: string;
  readonly children: (form: UseFormReturnType<Values>) => ReactNode;
}

export function RecordForm<Name extends OperationName, Data, Values extends Record<string, unknown>>(
  props: RecordFormProps<Name, Data, Values>,
) {
  const {
    found,
    valuesOf,
    validate = {},
    operation,
    refreshes,
    whyNot,
    verb = 'Save',
    question,
    gap = 'sm',
  } = props;
  const form = useForm<Values>({ initialValues: valuesOf(found.data), validate });
  const edited = useEdited(found, form, valuesOf);
  const { change, problem } = useChangeForm(operation, {
    form,
    refreshes,
    onSuccess: (reply, _input, sent) => {
      settle(form, sent, props.storedOf?.(sent, reply) ?? sent);
      showDone(props.done);
    },
  });
  useQuestionBeforeLeaving(form.isDirty() ? question : undefined);
  return (
    <form
      noValidate
      style={{ maxWidth: props.maxWidth }}
      onSubmit={form.onSubmit((values) =>
        change.mutate({ ...props.inputOf(values), ifMatch: edited.version() } as QueryInput<Name>),
      )}
    >
      <StaleAlert error={problem} onShow={edited.showLatest} />
      <Stack gap={gap}>
        {props.children(form)}
        <div>
          <ActionButton
            type="submit"
            variant={props.variant ?? 'default'}
            loading={change.isPending}
            whyNot={whyNot ?? (form.isDirty() ? undefined : nothingChanged)}
          >
            {verb}
          </ActionButton>
        </div>
      </Stack>
    </form>
  );
}
