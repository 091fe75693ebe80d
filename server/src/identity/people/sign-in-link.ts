/** A person signs in by a one-time link of the operator, without a password. */
import type { SignedIn } from '#contract/sign-in/shapes.ts';
import type { ActorContext } from '../../framework/context.ts';
import { CredentialsRefused, refusedCallers } from '../../framework/http/callers/refused-callers.ts';
import type { Wire } from '../../framework/http/route.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { deleteLink } from '../../rows/people/one-time-link-store.ts';
import { startBrowserSession } from '../sign-in/start-session.ts';
import { ownerOfLink } from './one-time-link.ts';

/** Uses the link up. @throws CredentialsRefused (401) */
async function useLink(context: ActorContext, token: string): Promise<string> {
  return inTransaction(context, async (context) => {
    const userId = await ownerOfLink(context, 'sign_in_link', token);
    if (userId === undefined)
      throw new CredentialsRefused(
        'This link was used, has expired or was replaced: sign in with your password, or ask the operator for another link',
        null,
      );
    await deleteLink(context.db, 'sign_in_link', userId);
    return userId;
  });
}

/** @throws CredentialsRefused (401), TooManyRequests (429), Refusal 403 where the account cannot sign in */
export async function signInByLink(context: ActorContext, wire: Wire, token: string): Promise<SignedIn> {
  const userId = await refusedCallers(context).check(wire.request, () => useLink(context, token));
  return startBrowserSession(context, wire, userId, 'link');
}
