/** Ways to sign in, and sessions of people. */
import type { Context } from '../../framework/context.ts';
import type { Family } from '../../framework/family.ts';
import { deleteEndedSessions } from '../../rows/sign-in/session-store.ts';
import { signInRoutes } from './sign-in-routes.ts';
import { forgetOldAttempts } from './slow-down.ts';

async function forgetEndedSessions({ db, now, settings }: Context): Promise<void> {
  const idleSince = new Date(now().getTime() - settings.sessionIdleMinutes * 60_000);
  await deleteEndedSessions(db, { now: now(), idleSince });
}

export const family: Family = {
  name: 'sign-in',
  routes: signInRoutes,
  loops: [
    { name: 'ended sessions', everySeconds: 3600, pass: forgetEndedSessions },
    { name: 'old failures to sign in', everySeconds: 3600, pass: forgetOldAttempts },
  ],
  tables: ['oidc_identity', 'password', 'session', 'sign_in_address', 'sign_in_attempt'],
};
