/** Accepts an invitation: with a new account, or as a person who has one. */
import { Button, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { client } from '../../api/client.ts';
import { isStatus } from '../../api/errors.ts';
import type { Reply } from '../../api/queries.ts';
import { currentUser, signOut } from '../../api/session.ts';
import { FormAlert } from '../../forms/FormAlert.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { TimeAgo } from '../../ui/Time.tsx';
import { useEnter } from './enter.ts';
import { Gate } from './Gate.tsx';
import { GateForm, OwnName } from './GateForm.tsx';
import { forgetInvitation, keepInvitation, keptInvitation, useHashSecret } from './hash-token.ts';
import { nameProblem, passwordProblem } from './NewPassword.tsx';
import { Refused } from './Refused.tsx';

type Preview = Reply<'previewInvitation'>;

interface InvitationPartProps {
  readonly token: string;
  readonly preview: Preview;
}

function NewAccount({ token, preview }: InvitationPartProps) {
  const enter = useEnter();
  return (
    <GateForm
      initialValues={{ name: '', password: '' }}
      validate={{ name: nameProblem, password: passwordProblem }}
      send={(body) => client.call('acceptInvitation', { body: { token, ...body } })}
      onSent={() => {
        forgetInvitation();
        return enter();
      }}
      verb="Accept and sign in"
    >
      {(form) => (
        <>
          <TextInput label="E-mail" value={preview.email} readOnly autoComplete="username" />
          <OwnName description="As others see it" key={form.key('name')} field={form.getInputProps('name')} />
        </>
      )}
    </GateForm>
  );
}

function Join({ token, preview }: InvitationPartProps) {
  const enter = useEnter();
  const navigate = useNavigate();
  const { data: me } = useQuery(currentUser);
  const join = useMutation({
    gcTime: 0,
    mutationFn: () => client.call('joinOrganization', { body: { token } }),
    onSuccess: ({ organizationId }) => {
      forgetInvitation();
      return enter('/', organizationId);
    },
  });
  const signIn = () => {
    keepInvitation(token);
    void navigate({ to: '/sign-in', search: { back: '/invitation' } });
  };
  if (!me)
    return (
      <>
        <p>
          <bdi>{preview.email}</bdi> has an account here. Sign in with it: this page then asks you to join.
        </p>
        <Button fullWidth onClick={signIn}>
          Sign in
        </Button>
      </>
    );
  if (me.user.email?.toLowerCase() !== preview.email.toLowerCase())
    return (
      <>
        <p>
          The invitation is for <bdi>{preview.email}</bdi>, and you are signed in as{' '}
          <bdi>{me.user.email}</bdi>.
        </p>
        <Button fullWidth onClick={() => void signOut().then(signIn)}>
          Sign in as someone else
        </Button>
      </>
    );
  return (
    <>
      <FormAlert mb="md" error={join.error} />
      <Button fullWidth loading={join.isPending} onClick={() => join.mutate()}>
        Join
      </Button>
    </>
  );
}

function Gone({ title }: { readonly title: string }) {
  return (
    <Refused title={title}>
      It expired, was used or was revoked, or its link was replaced. Ask the person who invited you for a new
      link, or <Link to="/sign-in">sign in</Link>.
    </Refused>
  );
}

export function InvitationPage() {
  const secret = useHashSecret();
  const token = secret || keptInvitation();
  const preview = useQuery({
    queryKey: ['previewInvitation', token],
    queryFn: () => client.call('previewInvitation', { body: { token } }),
    enabled: token !== '',
  });
  const isGone = token === '' || isStatus(preview.error, 400, 404, 410);
  return (
    <Gate title="Invitation">
      {isGone ? (
        <Gone title="This invitation cannot be used" />
      ) : (
        <Loaded query={preview} lines={3}>
          {(invitation) => (
            <>
              <p>
                You are invited to <strong dir="auto">{invitation.organizationName}</strong>. The invitation
                ends <TimeAgo at={invitation.expiresAt} />.
              </p>
              {invitation.hasAccount ? (
                <Join token={token} preview={invitation} />
              ) : (
                <NewAccount token={token} preview={invitation} />
              )}
            </>
          )}
        </Loaded>
      )}
    </Gate>
  );
}
