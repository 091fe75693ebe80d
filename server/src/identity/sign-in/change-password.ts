/** A person sets another password. */
import type { FastifyRequest } from 'fastify';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { countedAddress } from '../../framework/http/callers/refused-callers.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { badField, conflict, Refusal } from '../../ground/errors.ts';
import { getPasswordHash, storePasswordHash } from '../../rows/sign-in/password-store.ts';
import { deleteSessionsOf } from '../../rows/sign-in/session-store.ts';
import { getPerson } from '../../rows/users/person-store.ts';
import { checkNewPassword } from './check-password.ts';
import { hashPassword, matchesPassword } from './hash-password.ts';
import { beginAttempt } from './slow-down.ts';

/**
 * Ends all sessions but the one that asks.
 * @throws Refusal 400 for a password that is too weak or too long, or a wrong current one; 403 where no session
 * asks; 409 where the account has no password; TooManyRequests after several wrong ones
 */
export async function changePassword(
  context: ActorContext,
  request: FastifyRequest,
  { currentPassword, newPassword }: { readonly currentPassword: string; readonly newPassword: string },
): Promise<void> {
  const { session } = request;
  const person = await getPerson(context.db, context.actor.userId);
  if (!session || !person)
    throw new Refusal('forbidden', 'A password is changed by the person who is signed in, not with a key');
  checkNewPassword('body.newPassword', newPassword, person.email);
  const hash = await getPasswordHash(context.db, context, person.id);
  if (hash === null) throw conflict('This account has no password: it signs in through an identity provider');
  const { email, id: userId } = person;
  const succeeded = await beginAttempt(context, { email, userId, address: countedAddress(request.ip) });
  if (!(await matchesPassword(currentPassword, hash)))
    throw badField('body.currentPassword', 'is not the current password');
  await succeeded();
  const newHash = await hashPassword(newPassword);
  await inTransaction(context, async (context) => {
    await storePasswordHash(context.db, context, userId, newHash);
    await deleteSessionsOf(context.db, userId, session.id);
    await recordAudit(context, {
      organizationId: null,
      action: 'password.changed',
      entity: 'user',
      entityId: userId,
    });
  });
}
