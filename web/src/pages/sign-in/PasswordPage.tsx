/** Sets a new password by a one-time link of the operator. */
import { Link } from '@tanstack/react-router';
import { client } from '../../api/client.ts';
import { useEnter } from './enter.ts';
import { Gate } from './Gate.tsx';
import { GateForm } from './GateForm.tsx';
import { useHashSecret } from './hash-token.ts';
import { passwordProblem } from './NewPassword.tsx';
import { Refused } from './Refused.tsx';

function NewPasswordForm({ token }: { readonly token: string }) {
  const enter = useEnter();
  return (
    <GateForm
      initialValues={{ password: '' }}
      validate={{ password: passwordProblem }}
      send={({ password }) => client.call('resetPassword', { body: { token, password } })}
      onSent={() => enter()}
      gone={<Gone />}
      verb="Set the password"
      passwordLabel="New password"
    >
      {() => <p>All sessions of your account end, and you are signed in with the new password.</p>}
    </GateForm>
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
