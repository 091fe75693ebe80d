/** Sign-in page. */
import { Button, Divider, Loader } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { Link, Navigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { ApiError } from '#contract/client/client.ts';
import { baseUrl, client } from '../../api/client.ts';
import { isStatus } from '../../api/errors.ts';
import { type Reply, useRead } from '../../api/queries.ts';
import { FormAlert } from '../../forms/FormAlert.tsx';
import { SignInFields } from '../../forms/SignInFields.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { useSearchState } from '../../ui/search.ts';
import { useNow } from '../../ui/Time.tsx';
import { backOf } from './back.ts';
import { useEnter } from './enter.ts';
import { Gate } from './Gate.tsx';
import { useHashSecret } from './hash-token.ts';
import { Refused } from './Refused.tsx';

/** Signs in by a one-time link, as soon as it is opened. */
function LinkSignIn({ token }: { readonly token: string }) {
  const enter = useEnter();
  const isSent = useRef(false);
  const { mutate, error } = useMutation({
    gcTime: 0,
    mutationFn: () => client.call('signInByLink', { body: { token } }),
    onSuccess: () => enter(),
  });
  useEffect(() => {
    // A link works once: it is never sent twice.
    if (isSent.current) return;
    isSent.current = true;
    mutate();
  }, [mutate]);
  return (
    <Gate title="Sign in by a link">
      {error === null ? (
        <p role="status">
          <Loader size="xs" mr="xs" />
          You are being signed in.
        </p>
      ) : isStatus(error, 400, 401) ? (
        <Refused title="This link cannot be used">
          It has expired, was used already, or was replaced by a newer one.{' '}
          <Link to="/sign-in" replace reloadDocument>
            Sign in another way
          </Link>
          .
        </Refused>
      ) : (
        <FormAlert error={error} />
      )}
    </Gate>
  );
}

/** Whole seconds from one time to another, both in milliseconds; 0 where it is over. */
function secondsLeft(until: number, now: number): number {
  return Math.max(0, Math.ceil((until - now) / 1000));
}

/** Notes refusals, and counts down the time that they name. */
function useWait(): { readonly seconds: number; readonly note: (error: unknown) => void } {
  const [until, setUntil] = useState(0);
  const now = useNow();
  return {
    seconds: secondsLeft(until, now),
    note: (error) => {
      if (error instanceof ApiError && error.status === 429)
        setUntil(Date.now() + 1000 * (error.retryAfterSeconds ?? 5));
    },
  };
}

type Methods = Reply<'listSignInMethods'>;

function PasswordForm({ back }: { readonly back: string | undefined }) {
  const enter = useEnter();
  const wait = useWait();
  const form = useForm({ mode: 'uncontrolled', initialValues: { email: '', password: '' } });
  const signIn = useMutation({
    gcTime: 0,
    mutationFn: (body: { email: string; password: string }) => client.call('signIn', { body }),
    onSuccess: () => enter(back),
    onError: wait.note,
  });
  return (
    <form onSubmit={form.onSubmit((values) => signIn.mutate(values))}>
      {isStatus(signIn.error, 401) ? (
        <Refused title="Wrong e-mail or password">
          Check both. If you forgot your password, ask the operator for a link to set a new one.
        </Refused>
      ) : wait.seconds > 0 ? (
        <Refused title="Too many failed sign-ins">
          You can try again in {wait.seconds} s. What you typed is kept.
        </Refused>
      ) : (
        !isStatus(signIn.error, 429) && <FormAlert mb="md" error={signIn.error} />
      )}
      <SignInFields form={form} />
      <Button type="submit" fullWidth mt="lg" loading={signIn.isPending} disabled={wait.seconds > 0}>
        {wait.seconds > 0 ? `Wait ${wait.seconds} s` : 'Sign in'}
      </Button>
    </form>
  );
}

function Providers({ methods, back }: { readonly methods: Methods; readonly back: string | undefined }) {
  return methods.providers.map(({ id, name, path }) => {
    const url = new URL(path.replace(/^\//, ''), baseUrl);
    url.searchParams.set('returnTo', backOf(back));
    return (
      <Button key={id} component="a" href={url.href} variant="default" fullWidth mt="sm">
        Continue with {name}
      </Button>
    );
  });
}

export function SignInPage() {
  const [{ back, error }] = useSearchState();
  const secret = useHashSecret();
  const methods = useRead('listSignInMethods');
  const token = /^link=(.+)$/.exec(secret)?.[1];
  if (token !== undefined) return <LinkSignIn token={token} />;
  if (methods.data?.isFirstStart) return <Navigate to="/first-start" replace />;
  return (
    <Gate title="Sign in">
      {error !== undefined && <Refused title="The identity provider did not sign you in">{error}</Refused>}
      <Loaded query={methods} lines={4}>
        {(ways) => (
          <>
            {ways.password && <PasswordForm back={back} />}
            {ways.password && ways.providers.length > 0 && <Divider label="or" my="md" />}
            <Providers methods={ways} back={back} />
            {!ways.password && ways.providers.length === 0 && (
              <p>No one can sign in here: passwords are switched off, and no identity provider is set up.</p>
            )}
          </>
        )}
      </Loaded>
    </Gate>
  );
}
