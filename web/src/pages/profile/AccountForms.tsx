/** Name, password, and the end of the account. */
import { PasswordInput, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import { showDone } from '../../api/messages.ts';
import { queryClient } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { FormAlert } from '../../forms/FormAlert.tsx';
import { NameField } from '../../forms/NameFields.tsx';
import { validateName } from '../../forms/validate-name.ts';
import { Part } from '../../records/Part.tsx';
import { RecordForm } from '../../records/RecordForm.tsx';
import { Removal } from '../../records/Removal.tsx';
import { useChangeForm } from '../../records/use-change-form.ts';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { NewPassword, passwordProblem } from '../sign-in/NewPassword.tsx';

const narrow = { maxWidth: '32rem' };

function NameForm() {
  const { me } = useSession();
  return (
    <RecordForm
      record={{ data: me.user, etag: undefined }}
      valuesOf={({ name }) => ({ name: name ?? '' })}
      validate={{ name: validateName }}
      operation="updateCurrentUser"
      refreshes={['getCurrentUser', 'listMembers']}
      inputOf={(body) => ({ body })}
      done="Your name was changed"
      gap="md"
      {...narrow}
    >
      {(form) => (
        <NameField description="As others see it" autoComplete="name" {...form.getInputProps('name')} />
      )}
    </RecordForm>
  );
}

function PasswordForm() {
  const { me } = useSession();
  const form = useForm({
    initialValues: { currentPassword: '', newPassword: '' },
    validate: {
      currentPassword: (password) => (password === '' ? 'Your current password is required.' : null),
      newPassword: passwordProblem,
    },
  });
  const { change, problem } = useChangeForm('changePassword', {
    form,
    refreshes: ['listSessions'],
    onSuccess: () => {
      form.reset();
      showDone('Your password was changed, and your other sessions have ended');
    },
  });
  if (!me.hasPassword) return <p>You sign in through the identity provider: you have no password here.</p>;
  return (
    <form noValidate style={narrow} onSubmit={form.onSubmit((body) => change.mutate({ body }))}>
      <Stack gap="md">
        <FormAlert error={problem} />
        <PasswordInput
          label="Current password"
          autoComplete="current-password"
          required
          {...form.getInputProps('currentPassword')}
        />
        <NewPassword label="New password" field={form.getInputProps('newPassword')} />
        <div>
          <ActionButton type="submit" variant="default" loading={change.isPending}>
            Change password
          </ActionButton>
        </div>
      </Stack>
    </form>
  );
}

function DeleteAccount() {
  const { me } = useSession();
  const navigate = useNavigate();
  const leave = () => {
    queryClient.clear();
    void navigate({ to: '/sign-in', replace: true });
  };
  return (
    <Removal
      operation="deleteCurrentUser"
      input={{}}
      refreshes={[]}
      label="Delete my account"
      question="Delete your account?"
      verb="Delete"
      done="Your account was deleted"
      {...(me.user.email ? { typed: me.user.email } : {})}
      onDone={leave}
    >
      <p>
        Your sessions, keys and password end at once, and your name and e-mail address are erased. What you
        did remains in the audit trail under a pseudonym. The last administrator of an organization cannot do
        this.
      </p>
    </Removal>
  );
}

export function AccountForms() {
  return (
    <>
      <Part title="Name">
        <NameForm />
      </Part>
      <Part title="Password" lead="A new one ends all your other sessions.">
        <PasswordForm />
      </Part>
      <Part title="Delete the account">
        <DeleteAccount />
      </Part>
    </>
  );
}
