/** Sets a new password by a one-time link of the operator. */
import { Button, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { client } from '../../api/client.ts';
import { fieldText, isStatus } from '../../api/errors.ts';
import { FormAlert } from '../../forms/FormAlert.tsx';
import { formFieldOf } from '../../records/use-change-form.ts';
import { useEnter } from './enter.ts';
import { Gate } from './Gate.tsx';
import { useHashSecret } from './hash-token.ts';
import { NewPassword, passwordProblem } from './NewPassword.tsx';
import { Refused } from './Refused.tsx';

function NewPasswordForm({ token }: { readonly token: string }) {
  const enter = useEnter();
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { password: '' },
    validate: { password: passwordProblem },
  });
  const reset = useMutation({
    gcTime: 0,
    mutationFn: ({ password }: { password: string }) =>
      client.call('resetPassword', { body: { token, password } }),
    onSuccess: () => enter(),
    onError: (error) => {
      if (formFieldOf(error, form.getValues())) form.setFieldError('password', fieldText(error));
    },
  });
  if (isStatus(reset.error, 410, 404)) return <Gone />;
  const isAtField = formFieldOf(reset.error, form.getValues()) !== undefined;
  return (
    <form onSubmit={form.onSubmit((values) => reset.mutate(values))} noValidate>
      <FormAlert mb="md" error={isAtField ? null : reset.error} />
      <p>All sessions of your account end, and you are signed in with the new password.</p>
      <Stack gap="sm">
        <NewPassword
          label="New password"
          field={{ ...form.getInputProps('password'), key: form.key('password') }}
        />
        <Button type="submit" fullWidth loading={reset.isPending}>
          Set the password
        </Button>
      </Stack>
    </form>
  );
}

function Gone() {
  return (
    <Refused title="This link cannot be used">
      It is more than a day old, was used, or was replaced by a newer one. Ask the operator for a new link, or{' '}
      <Link to="/sign-in">sign in</Link>.
    </Refused>
  );
}

export function PasswordPage() {
  const token = useHashSecret();
  return <Gate title="New password">{token === '' ? <Gone /> : <NewPasswordForm token={token} />}</Gate>;
}
