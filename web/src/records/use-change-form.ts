/** A form for one operation: a refusal appears at its field, or at the top of the form. */
import type { UseFormReturnType } from '@mantine/form';
import type { UseMutationResult } from '@tanstack/react-query';
import { useRef } from 'react';
import type { OperationName } from '#contract/operations.ts';
import { fieldText, isStatus } from '../api/errors.ts';
import { type ChangeOptions, type QueryInput, type Reply, useChange } from '../api/queries.ts';
import { formFieldOf } from '../forms/use-refusal.ts';

export interface ChangeFormOptions<Name extends OperationName, Values extends Record<string, unknown>>
  extends Omit<ChangeOptions<Name>, 'onError' | 'onSend' | 'onSuccess'> {
  readonly form: UseFormReturnType<Values>;
  /** @param sent the values of the form when it was sent: the person may continue to type */
  readonly onSuccess?: (reply: Reply<Name>, input: QueryInput<Name>, sent: Values) => void;
  /** Fields of the form by their name in the request, where the two differ. */
  readonly fields?: Readonly<Record<string, string>>;
}

export interface ChangeForm<Name extends OperationName> {
  readonly change: UseMutationResult<Reply<Name>, Error, QueryInput<Name>>;
  /** Message at the top of the form; undefined if there is none, or if a field shows it. */
  readonly problem: unknown;
}

export function useChangeForm<Name extends OperationName, Values extends Record<string, unknown>>(
  name: Name,
  { form, fields, onSuccess, ...options }: ChangeFormOptions<Name, Values>,
): ChangeForm<Name> {
  const sent = useRef(form.getValues());
  const change = useChange(name, {
    ...options,
    onSend: () => {
      sent.current = form.getValues();
    },
    onSuccess: (reply, input) => onSuccess?.(reply, input, sent.current),
    onError: (error) => {
      const field = formFieldOf(error, form.getValues(), fields);
      if (field !== undefined) form.setFieldError(field, fieldText(error));
      return true;
    },
  });
  const isAtField = formFieldOf(change.error, form.getValues(), fields) !== undefined;
  // A person who looks at the other version has nothing left that was refused.
  const isOver = isStatus(change.error, 412) && !form.isDirty();
  return { change, problem: isAtField || isOver ? undefined : (change.error ?? undefined) };
}
