/** Checks e-mail and password, in the same time and with the same answer whether or not there is an account. */
import type { FastifyRequest } from 'fastify';
import type { ActorContext } from '../../framework/context.ts';
import {
  CredentialsRefused,
  countedAddress,
  refusedCallers,
} from '../../framework/http/callers/refused-callers.ts';
import { Refusal } from '../../ground/errors.ts';
import { getPasswordHash } from '../../rows/sign-in/password-store.ts';
import { findPersonByEmail } from '../../rows/users/person-store.ts';
import { matchesPassword } from './hash-password.ts';
import { beginAttempt } from './slow-down.ts';

/**
 * @returns the id of the user
 * @throws CredentialsRefused (401), TooManyRequests (429) after several failures, Refusal 403 if no one
 * signs in by password
 */
export async function checkSignIn(
  context: ActorContext,
  request: FastifyRequest,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<string> {
  if (!context.settings.passwordSignIn)
    throw new Refusal(
      'forbidden',
      'This installation has no sign-in by password (ENVARIUM_PASSWORD_SIGN_IN): use its identity provider',
    );
  return refusedCallers(context).check(request, async () => {
    const person = await findPersonByEmail(context.db, email);
    const address = countedAddress(request.ip);
    const succeeded = await beginAttempt(context, { email, userId: person?.id, address });
    // Without an account too, so that the same statements are sent.
    const hash = await getPasswordHash(context.db, context, person?.id ?? '');
    const isRight = await matchesPassword(password, hash);
    if (!person || !isRight)
      throw new CredentialsRefused('E-mail or password is not right', person?.id ?? null);
    await succeeded();
    return person.id;
  });
}
