/** An account is deleted: everything that identifies the person is gone, what it did remains. */
import { hash } from 'node:crypto';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { conflict, notFound, orNotFound, Refusal } from '../../ground/errors.ts';
import { listMemberships } from '../../rows/organizations/membership-store.ts';
import { revokeInvitationsOf } from '../../rows/people/invitation-store.ts';
import { deleteAddressesOf } from '../../rows/sign-in/attempt-store.ts';
import { lockPerson, updatePerson } from '../../rows/users/person-store.ts';
import { isOperator } from '../../rows/users/user-store.ts';
import { requireOtherAdmin } from '../../tenancy/organizations/keep-an-admin.ts';
import { endCredentials } from './end-credentials.ts';
import { leaveOrganization } from './leave-organization.ts';

/**
 * Replacement for a person whose account was deleted.
 * The same for everything that the person did, so that a trail remains readable; it says nothing about who it
 * was.
 */
function pseudonymOf(userId: string): string {
  return `Former user ${hash('sha256', `envarium pseudonym ${userId}`, 'hex').slice(0, 8)}`;
}

/**
 * @throws Refusal 404 for callers other than the person itself and the operator, 409 for the last administrator of an
 * organization, and for what is not a person
 */
export async function closeAccount(context: ActorContext, userId: string): Promise<{ id: string }> {
  const isAllowed = userId === context.actor.userId || (await isOperator(context.db, context.actor.userId));
  if (!isAllowed) throw notFound('user', userId);
  if (await isOperator(context.db, userId))
    throw conflict('This is the user of the first key of the installation, which cannot be deleted');
  await inTransaction(context, async (context) => {
    const { db } = context;
    const person = orNotFound(await lockPerson(db, userId), 'user', userId);
    if (person.is_api_key || person.email === '')
      throw new Refusal('conflict', 'This user is not a person: delete its API key');
    for (const { organization_id: organizationId, role, status } of await listMemberships(db, userId)) {
      await requireOtherAdmin(context, organizationId, userId);
      await leaveOrganization(context, organizationId, userId);
      await recordAudit(context, {
        organizationId,
        action: 'user.removed',
        entityId: userId,
        details: { role, status },
      });
    }
    await revokeInvitationsOf(db, userId, context.now());
    await endCredentials(context, userId);
    await deleteAddressesOf(db, userId);
    await updatePerson(db, userId, {
      name: pseudonymOf(userId),
      email: '',
      given_name: null,
      family_name: null,
      picture: null,
      last_login: null,
      is_email_verified: false,
      deleted_at: context.now(),
      updated_at: context.now(),
    });
    await recordAudit(context, {
      organizationId: null,
      action: 'user.deleted',
      entityId: userId,
    });
  });
  return { id: userId };
}
