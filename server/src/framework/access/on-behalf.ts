/** Acts for a user after its request has ended. */
import { getUsers } from '../../rows/users/user-store.ts';
import type { ActorContext, Context } from '../context.ts';
import { loadAccess } from './load-access.ts';

/** The user, and what the audit trail says about the request. */
export interface Behalf {
  readonly userId: string;
  readonly keyId: string | null;
  readonly requestId: string;
  readonly address: string | null;
}

/** The context of a user, with the rights that it has now. */
export async function onBehalf(
  context: Context,
  { userId, keyId, requestId, address }: Behalf,
): Promise<ActorContext> {
  const [users, access] = await Promise.all([getUsers(context.db, [userId]), loadAccess(context.db, userId)]);
  const { name = userId, email = '' } = users.get(userId) ?? {};
  return {
    ...context,
    actor: { userId, name, email, keyId, sessionId: null, access },
    requestId,
    ...(address === null ? {} : { address }),
  };
}
