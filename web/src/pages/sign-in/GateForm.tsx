/** A form of people who are not signed in yet: refusals appear at their fields, or above them. */
import { Button, Stack, TextInput } from '@mantine/core';
import { type FormValidateInput, type UseFormReturnType, useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { fieldText, isStatus } from '../../api/errors.ts';
import { FormAlert } from '../../forms/FormAlert.tsx';
import { formFieldOf } from '../../forms/use-refusal.ts';
import { NewPassword } from './NewPassword.tsx';

interface GateValues extends Record<string, string> {
  password: string;
}

export interface GateFormProps<Values extends GateValues> {
  readonly initialValues: Values;
  readonly validate: FormValidateInput<Values>;
  readonly send: (values: Values) => Promise<unknown>;
  readonly onSent: () => unknown;
  /** Texts by field for a refusal that names none. */
  readonly errorsOf?: (error: unknown) => Partial<Values>;
  /** Shown instead of the form if its link is not valid any more. */
  readonly gone?: ReactNode;
  readonly verb: string;
  /** The fields before the password. */
  readonly children: (form: UseFormReturnType<Values>) => ReactNode;
  /** Between the password and the button. */
  readonly after?: (form: UseFormReturnType<Values>) => ReactNode;
  readonly passwordLabel?: string;
}

export function GateForm<Values extends GateValues>(props: GateFormProps<Values>) {
  const { initialValues, validate, send, onSent, errorsOf, passwordLabel = 'Password' } = props;
  const form = useForm<Values>({ mode: 'uncontrolled', initialValues, validate });
  const errorsAt = (error: unknown): Partial<Record<string, string>> => {
    const field = formFieldOf(error, form.getValues());
    return { ...(field === undefined ? {} : { [field]: fieldText(error) }), ...errorsOf?.(error) };
  };
  const call = useMutation({
    gcTime: 0,
    mutationFn: send,
    onSuccess: onSent,
    onError: (error) => form.setErrors(errorsAt(error)),
  });
  if (props.gone !== undefined && isStatus(call.error, 404, 410)) return props.gone;
  const isAtField = Object.keys(errorsAt(call.error)).length > 0;
  return (
    <form onSubmit={form.onSubmit((values) => call.mutate(values))} noValidate>
      <FormAlert mb="md" error={isAtField ? null : call.error} />
      <Stack gap="sm">
        {props.children(form)}
        <NewPassword
          label={passwordLabel}
          field={{ ...form.getInputProps('password'), key: form.key('password') }}
        />
        {props.after?.(form)}
        <Button type="submit" fullWidth mt="sm" loading={call.isPending}>
          {props.verb}
        </Button>
      </Stack>
    </form>
  );
}

interface OwnNameProps {
  readonly field: object;
  readonly description?: string;
}

/** The person's own name. */
export function OwnName({ field, description }: OwnNameProps) {
  return <TextInput label="Name" description={description} autoComplete="name" required {...field} />;
}
