/** Sign-in of people: what it takes before there are credentials. */
import { ApiError, type Client, createClient } from '#contract/client/client.ts';
import type { CliSession } from '#contract/sign-in/shapes.ts';
import { BadCall } from './exit-codes.ts';
import { version } from './version.ts';

/** A client for what needs no credentials: it sends none. */
export function anonymousClient(url: string): Client {
  const send: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.delete('authorization');
    return fetch(input, { ...init, headers });
  };
  return createClient({ url, key: '', secret: '', userAgent: `envarium/${version}`, fetch: send });
}

/** @throws BadCall for a wrong e-mail address or password */
export async function signInWithPassword(
  apiUrl: string,
  email: string,
  password: string,
): Promise<CliSession> {
  return anonymousClient(apiUrl)
    .call('signInCli', { body: { email, password } })
    .catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 401)
        throw new BadCall(
          `The service at ${apiUrl} does not accept this e-mail address and password. Nothing was written.`,
        );
      throw error;
    });
}
