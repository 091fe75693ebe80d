/** Signs in by a one-time link, as soon as it is opened. */
import { Loader } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { client } from '../../api/client.ts';
import { isStatus } from '../../api/errors.ts';
import { FormAlert } from '../../forms/FormAlert.tsx';
import { useEnter } from './enter.ts';
import { Gate } from './Gate.tsx';
import { Refused } from './Refused.tsx';

export function LinkSignIn({ token }: { readonly token: string }) {
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
