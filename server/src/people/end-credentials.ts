/** Everything that opens an account ends. */
import type { ActorContext } from '../context.ts';
import { deleteIdentitiesOf } from '../sign-in/identity-store.ts';
import { deletePassword } from '../sign-in/password-store.ts';
import { deleteSessionsOf } from '../sign-in/session-store.ts';
import { deleteCodesOf } from '../single-sign-on/request-store.ts';
import { deleteKeysOf } from '../users/user-store.ts';
import { deleteLink } from './one-time-link-store.ts';

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
