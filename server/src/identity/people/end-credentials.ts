/** Everything that opens an account ends. */
import type { ActorContext } from '../../framework/context.ts';
import { deleteLink } from '../../rows/people/one-time-link-store.ts';
import { deleteIdentitiesOf } from '../../rows/sign-in/identity-store.ts';
import { deletePassword } from '../../rows/sign-in/password-store.ts';
import { deleteSessionsOf } from '../../rows/sign-in/session-store.ts';
import { deleteCodesOf } from '../../rows/single-sign-on/request-store.ts';
import { deleteKeysOf } from '../../rows/users/user-store.ts';

/** Ends password, sessions, personal keys, identities, links and codes of a person. */
export async function endCredentials({ db }: Pick<ActorContext, 'db'>, userId: string): Promise<void> {
  await deletePassword(db, userId);
  await deleteSessionsOf(db, userId);
  await deleteKeysOf(db, userId);
  await deleteIdentitiesOf(db, userId);
  await deleteLink(db, 'password_reset', userId);
  await deleteLink(db, 'sign_in_link', userId);
  await deleteCodesOf(db, userId);
}
