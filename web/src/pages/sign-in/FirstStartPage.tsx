/** The first administrator of a new installation. */
import { Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { createClient } from '#contract/client/client.ts';
import { baseUrl, client } from '../../api/client.ts';
import { fieldText, isStatus } from '../../api/errors.ts';
import { useRead } from '../../api/queries.ts';
import { FormAlert } from '../../forms/FormAlert.tsx';
import { formFieldOf } from '../../records/use-change-form.ts';
import { useEnter } from './enter.ts';
import { Gate } from './Gate.tsx';
import { keyOf, useHashSecret } from './hash-token.ts';
import { NewPassword, passwordProblem } from './NewPassword.tsx';
import { Refused } from './Refused.tsx';

interface FirstStartValues extends Record<string, string> {
  name: string;
  email: string;
  password: string;
  key: string;
}

async function createAdmin({ name, email, password, key }: FirstStartValues): Promise<void> {
  const operator = createClient({ url: baseUrl, ...keyOf(key)! });
  await operator.call('createAdmin', { body: { name, email, password } });
  await client.call('signIn', { body: { email, password } });
}

function useFirstAdmin(secret: string) {
  const enter = useEnter();
  const form = useForm<FirstStartValues>({
    mode: 'uncontrolled',
    initialValues: { name: '', email: '', password: '', key: keyOf(secret) ? secret : '' },
    validate: {
      name: (name) => (name.trim() === '' ? 'Your name is needed.' : null),
      email: (email) => (email.includes('@') ? null : 'An e-mail address is needed.'),
      password: passwordProblem,
      key: (key) => (keyOf(key) ? null : 'The key has the form <id>:<secret>.'),
    },
  });
  const create = useMutation({
    gcTime: 0,
    mutationFn: createAdmin,
    onSuccess: () => enter(),
    onError: (error) => {
      const field = formFieldOf(error, form.getValues());
      if (field !== undefined) form.setFieldError(field, fieldText(error));
      if (isStatus(error, 401)) form.setFieldError('key', 'The service does not know this key.');
    },
  });
  const isAtField = isStatus(create.error, 401) || formFieldOf(create.error, form.getValues()) !== undefined;
  return { form, create, problem: isAtField ? null : create.error };
}

function AdminForm({ secret }: { readonly secret: string }) {
  const { form, create, problem } = useFirstAdmin(secret);
  const hasKey = keyOf(secret) !== undefined;
  return (
    <form onSubmit={form.onSubmit((values) => create.mutate(values))} noValidate>
      <FormAlert mb="md" error={problem} />
      <Stack gap="sm">
        {!hasKey && (
          <PasswordInput
            label="First key"
            description="The first start has shown it on the terminal, or written it to first-admin-key.env in the data folder: <id>:<secret>."
            required
            autoComplete="off"
            inputWrapperOrder={['label', 'description', 'input', 'error']}
            key={form.key('key')}
            {...form.getInputProps('key')}
          />
        )}
        <TextInput
          label="Name"
          autoComplete="name"
          required
          key={form.key('name')}
          {...form.getInputProps('name')}
        />
        <TextInput
          label="E-mail"
          type="email"
          autoComplete="username"
          required
          key={form.key('email')}
          {...form.getInputProps('email')}
        />
        <NewPassword
          label="Password"
          field={{ ...form.getInputProps('password'), key: form.key('password') }}
        />
        {hasKey && form.errors.key && <Refused title="The first key was refused">{form.errors.key}</Refused>}
        <Button type="submit" fullWidth mt="sm" loading={create.isPending}>
          Create the first administrator
        </Button>
      </Stack>
    </form>
  );
}

export function FirstStartPage() {
  const secret = useHashSecret();
  const methods = useRead('listSignInMethods');
  const isOver = methods.data?.isFirstStart === false;
  return (
    <Gate title="Welcome">
      {isOver ? (
        <Refused title="This installation has its administrator">
          <Link to="/sign-in">Sign in</Link>, or ask an administrator for an invitation.
        </Refused>
      ) : (
        <>
          <p>
            Nobody can sign in to this installation yet. Make yourself its first administrator: you can then
            invite others.
          </p>
          <AdminForm secret={secret} />
        </>
      )}
    </Gate>
  );
}
