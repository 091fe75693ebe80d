/** Asks for the sign-in above a page whose session has ended: what is on the page stays as it is. */
import { Alert, Button, Modal, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { baseUrl, client } from '../api/client.ts';
import { errorText, isStatus } from '../api/errors.ts';
import { connectNow } from '../api/follow.ts';
import { queryClient, useRead } from '../api/queries.ts';
import { currentUser, useSession } from '../api/session.ts';
import { SignInFields } from '../forms/SignInFields.tsx';

/** The person is back: everything that was refused in the meantime is read again. */
async function resume(): Promise<void> {
  await queryClient.refetchQueries({ queryKey: currentUser.queryKey });
  connectNow();
  await queryClient.invalidateQueries();
}

function Providers() {
  const methods = useRead('listSignInMethods');
  return methods.data?.providers.map(({ id, name, path }) => (
    <Button
      key={id}
      component="a"
      href={new URL(path.replace(/^\//, ''), baseUrl).href}
      target="_blank"
      variant="default"
      fullWidth
      mt="sm"
    >
      Continue with {name} in another tab
    </Button>
  ));
}

function SignInForm() {
  const { me } = useSession();
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { email: me.user.email ?? '', password: '' },
  });
  const signIn = useMutation({
    gcTime: 0,
    mutationFn: (body: { email: string; password: string }) => client.call('signIn', { body }),
    onSuccess: resume,
  });
  const isWrong = isStatus(signIn.error, 401);
  return (
    <form onSubmit={form.onSubmit((values) => signIn.mutate(values))}>
      {signIn.error && (
        <Alert color="red" role="alert" mb="md">
          {isWrong ? 'E-mail or password are wrong.' : errorText(signIn.error).text}
        </Alert>
      )}
      <SignInFields form={form} isEmailKnown />
      <Button type="submit" fullWidth mt="lg" loading={signIn.isPending}>
        Sign in
      </Button>
    </form>
  );
}

export default function SessionDialog() {
  return (
    <Modal
      opened
      onClose={() => undefined}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      title="Your session has ended"
      zIndex={1000}
    >
      <Text mb="md">
        Sign in to continue here. Everything on the page is kept; what was not saved yet, you send once more.
      </Text>
      <SignInForm />
      <Providers />
    </Modal>
  );
}
