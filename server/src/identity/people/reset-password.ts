/** A person who has forgotten the password sets another one by a one-time link of the operator. */
import type { SignedIn } from '#contract/sign-in/shapes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import type { Wire } from '../../framework/http/route.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { Refusal } from '../../ground/errors.ts';
import { deleteLink } from '../../rows/people/one-time-link-store.ts';
import { storePasswordHash } from '../../rows/sign-in/password-store.ts';
import { deleteSessionsOf } from '../../rows/sign-in/session-store.ts';
import { getPerson, lockPerson } from '../../rows/users/person-store.ts';
import { deleteKeysOf } from '../../rows/users/user-store.ts';
import { checkNewPassword } from '../sign-in/check-password.ts';
import { hashPassword } from '../sign-in/hash-password.ts';
import { asPerson, startBrowserSession } from '../sign-in/start-session.ts';
import { ownerOfLink } from './one-time-link.ts';

function invalid(): Refusal {
  return new Refusal(
    'gone',
    'This link was used, has expired or was replaced: ask the operator for another one',
  );
}

/** @throws Refusal 410 */
async function requireLink(context: ActorContext, token: string): Promise<string> {
  const userId = await ownerOfLink(context, 'password_reset', token);
  if (userId === undefined) throw invalid();
  return userId;
}

/**
 * Sets the password, ends all sessions and personal keys of the account and its link to sign in, and signs in.
 * @throws Refusal 410 for a link that is not valid, 400 for a weak password, 403 where passwords are switched off
 */
export async function resetPassword(
  context: ActorContext,
  wire: Wire,
  { token, password }: { readonly token: string; readonly password: string },
): Promise<SignedIn> {
  if (!context.settings.passwordSignIn)
    throw new Refusal('forbidden', 'This installation has no sign-in by password: use its identity provider');
  const userId = await requireLink(context, token);
  const known = await getPerson(context.db, userId);
  if (!known || known.is_blocked) throw invalid();
  checkNewPassword('body.password', password, known.email);
  const hash = await hashPassword(password);
  await inTransaction(context, async (context) => {
    await requireLink(context, token);
    const person = await lockPerson(context.db, userId);
    if (!person || person.is_blocked) throw invalid();
    await deleteLink(context.db, 'password_reset', userId);
    await deleteLink(context.db, 'sign_in_link', userId);
    await storePasswordHash(context.db, context, userId, hash);
    await deleteSessionsOf(context.db, userId);
    // Another person may have had the account, and made keys that would outlive the password.
    await deleteKeysOf(context.db, userId);
    await recordAudit(asPerson(context, person), {
      organizationId: null,
      action: 'password.reset',
      entity: 'user',
      entityId: userId,
    });
  });
  return startBrowserSession(context, wire, userId, 'password');
}
