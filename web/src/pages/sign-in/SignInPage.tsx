/** Where people sign in. */
import { Alert, Button, PasswordInput, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { baseUrl, client } from '../../api/client.ts';
import { errorText } from '../../api/errors.ts';
import { queryClient, useRead } from '../../api/queries.ts';
import { currentUser } from '../../api/session.ts';
import { useSearchState } from '../../ui/search.ts';
import { Gate } from './Gate.tsx';

/** Only addresses of this interface lead back. */
function backOf(back: string | undefined): string {
  return back?.startsWith('/') && !back.startsWith('//') ? back : '/';
}

export function SignInPage() {
  const [{ back }] = useSearchState();
  const navigate = useNavigate();
  const methods = useRead('listSignInMethods');
  const form = useForm({ mode: 'uncontrolled', initialValues: { email: '', password: '' } });
  const signIn = useMutation({
    mutationFn: (body: { email: string; password: string }) => client.call('signIn', { body }),
    onSuccess: async () => {
      queryClient.clear();
      await queryClient.fetchQuery(currentUser);
      await navigate({ href: backOf(back) });
    },
  });
  return (
    <Gate title="Sign in">
      {signIn.error && (
        <Alert color="red" role="alert" mb="md">
          {errorText(signIn.error).text}
        </Alert>
      )}
      <form onSubmit={form.onSubmit((values) => signIn.mutate(values))}>
        <TextInput
          label="E-mail"
          type="email"
          autoComplete="username"
          required
          key={form.key('email')}
          {...form.getInputProps('email')}
        />
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          required
          mt="sm"
          key={form.key('password')}
          {...form.getInputProps('password')}
        />
        <Button type="submit" fullWidth mt="lg" loading={signIn.isPending}>
          Sign in
        </Button>
      </form>
      {methods.data?.providers.map(({ id, name, path }) => (
        <Button
          key={id}
          component="a"
          href={new URL(path.replace(/^\//, ''), baseUrl).href}
          variant="default"
          fullWidth
          mt="sm"
        >
          Continue with {name}
        </Button>
      ))}
    </Gate>
  );
}
