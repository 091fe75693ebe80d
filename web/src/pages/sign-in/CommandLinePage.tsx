/** Asks the person who is signed in whether a command line may sign in as them. */
import { Button, Group } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Navigate, useLocation } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { currentUser } from '../../api/session.ts';
import { FormAlert } from '../../forms/FormAlert.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { useSearchState } from '../../ui/search.ts';
import { isLoopback } from './back.ts';
import { Gate } from './Gate.tsx';
import { Refused } from './Refused.tsx';

interface Request {
  readonly redirectUri: string;
  readonly codeChallenge: string;
  readonly state: string;
}

function Question({ request, name }: { readonly request: Request; readonly name: string }) {
  const [isRefused, setRefused] = useState(false);
  const approve = useMutation({
    gcTime: 0,
    mutationFn: () => client.call('approveCliSignIn', { body: request }),
    onSuccess: ({ location: to }) => {
      if (isLoopback(to)) location.assign(to);
    },
  });
  if (isRefused) return <p>The command line was not signed in. You can close this page.</p>;
  if (approve.isSuccess) return <p>Return to the terminal: the command line is signing in.</p>;
  return (
    <>
      <FormAlert mb="md" error={approve.error} />
      <p>
        A command line on this computer asks to work as <strong dir="auto">{name}</strong>, with all your
        rights. Allow it only if you have just run <code>envarium login</code> yourself.
      </p>
      <Group grow>
        <Button variant="default" onClick={() => setRefused(true)}>
          Refuse
        </Button>
        <Button loading={approve.isPending} onClick={() => approve.mutate()}>
          Allow
        </Button>
      </Group>
    </>
  );
}

export function CommandLinePage() {
  const [{ redirectUri = '', codeChallenge = '', state = '' }] = useSearchState();
  const { href } = useLocation();
  const me = useQuery(currentUser);
  if (!isLoopback(redirectUri) || codeChallenge === '' || state === '')
    return (
      <Gate title="Command line">
        <Refused title="This address is incomplete">
          Run <code>envarium login</code> again: it opens the right one.
        </Refused>
      </Gate>
    );
  if (me.data === null) return <Navigate to="/sign-in" search={{ back: href }} replace />;
  return (
    <Gate title="Command line">
      <Loaded query={me} lines={3}>
        {(current) => (
          <Question
            request={{ redirectUri, codeChallenge, state }}
            name={current?.user.name ?? current?.user.email ?? ''}
          />
        )}
      </Loaded>
    </Gate>
  );
}
