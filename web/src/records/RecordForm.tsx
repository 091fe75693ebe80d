/** The settings of something stored, which others may change at the same time. */
import { Alert, Button, Stack } from '@mantine/core';
import { type FormValidateInput, type UseFormReturnType, useForm } from '@mantine/form';
import type { ReactNode } from 'react';
import type { OperationName } from '#contract/operations.ts';
import { isStatus } from '../api/errors.ts';
import { showDone } from '../api/messages.ts';
import type { QueryInput, Reply, Tagged } from '../api/queries.ts';
import { FormAlert } from '../forms/FormAlert.tsx';
import { intoView } from '../forms/problems.ts';
import { nothingChanged } from '../forms/SaveRow.tsx';
import { useQuestionBeforeLeaving } from '../forms/use-question-before-leaving.ts';
import { ActionButton } from '../ui/ActionButton.tsx';
import { useChangeForm } from './use-change-form.ts';
import { mergeSaved, useEdited } from './use-edited.ts';

interface StaleAlertProps {
  readonly error: unknown;
  /** Drops what was typed, and shows the version of the other person. */
  readonly onShow: () => void;
}

/** Reason why a change was refused. If another user was faster, edits stay until the person requests the other version. */
function StaleAlert({ error, onShow }: StaleAlertProps) {
  if (!isStatus(error, 412)) return <FormAlert mb="md" error={error} />;
  return (
    <Alert ref={intoView} color="red" role="alert" title="Changed by someone else" mb="md">
      It was changed since you opened it, and your change was not made. What you typed is still here: copy
      what you need before you look at their version.
      <div style={{ marginTop: 'var(--e-space-2)' }}>
        <Button size="xs" variant="default" onClick={onShow}>
          Show their version
        </Button>
      </div>
    </Alert>
  );
}

export interface RecordFormProps<Name extends OperationName, Data, Values extends Record<string, unknown>> {
  /** Without a tag, the last change wins. */
  readonly record: Tagged<Data>;
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
    record,
    valuesOf,
    validate = {},
    operation,
    refreshes,
    whyNot,
    verb = 'Save',
    question,
    gap = 'sm',
  } = props;
  const form = useForm<Values>({ initialValues: valuesOf(record.data), validate });
  const edited = useEdited(record, form, valuesOf);
  const { change, problem } = useChangeForm(operation, {
    form,
    refreshes,
    onSuccess: (reply, _input, sent) => {
      mergeSaved(form, sent, props.storedOf?.(sent, reply) ?? sent);
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
