/** The first administrator of a new installation. */
import { PasswordInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { createClient } from '#contract/client/client.ts';
import { baseUrl, client } from '../../api/client.ts';
import { isStatus } from '../../api/errors.ts';
import { useRead } from '../../api/queries.ts';
import { EmailField } from '../../forms/SignInFields.tsx';
import { useEnter } from './enter.ts';
import { Gate } from './Gate.tsx';
import { GateForm, OwnName } from './GateForm.tsx';
import { keyOf, useHashSecret } from './hash-token.ts';
import { nameProblem, passwordProblem } from './NewPassword.tsx';
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

function AdminForm({ secret }: { readonly secret: string }) {
  const enter = useEnter();
  const hasKey = keyOf(secret) !== undefined;
  return (
    <GateForm<FirstStartValues>
      initialValues={{ name: '', email: '', password: '', key: hasKey ? secret : '' }}
      validate={{
        name: nameProblem,
        email: (email) => (email.includes('@') ? null : 'An e-mail address is required.'),
        password: passwordProblem,
        key: (key) => (keyOf(key) ? null : 'The key has the form <id>:<secret>.'),
      }}
      send={createAdmin}
      onSent={() => enter()}
      errorsOf={(error) => (isStatus(error, 401) ? { key: 'The service does not know this key.' } : {})}
      after={({ errors }) =>
        hasKey && errors.key && <Refused title="The first key was refused">{errors.key}</Refused>
      }
      verb="Create the first administrator"
    >
      {(form) => (
        <>
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
          <OwnName key={form.key('name')} field={form.getInputProps('name')} />
          <EmailField form={form} />
        </>
      )}
    </GateForm>
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
            No one can sign in to this installation yet. Make yourself its first administrator: you can then
            invite others.
          </p>
          <AdminForm secret={secret} />
        </>
      )}
    </Gate>
  );
}
