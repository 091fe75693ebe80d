/** The e-mail and the password of a person who signs in. */
import { PasswordInput, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';

export interface SignInFieldsProps {
  /** Uncontrolled: password managers fill it in. */
  readonly form: UseFormReturnType<{ email: string; password: string }>;
  /** The e-mail is known: the password is typed first. */
  readonly isEmailKnown?: boolean;
}

/** The e-mail address that a person signs in with. */
export function EmailField<Values extends { email: string }>({
  form,
}: {
  readonly form: UseFormReturnType<Values>;
}) {
  return (
    <TextInput
      label="E-mail"
      type="email"
      autoComplete="username"
      required
      key={form.key('email')}
      {...form.getInputProps('email')}
    />
  );
}

export function SignInFields({ form, isEmailKnown = false }: SignInFieldsProps) {
  return (
    <>
      <EmailField form={form} />
      <PasswordInput
        label="Password"
        autoComplete="current-password"
        required
        data-autofocus={isEmailKnown || undefined}
        mt="sm"
        key={form.key('password')}
        {...form.getInputProps('password')}
      />
    </>
  );
}
