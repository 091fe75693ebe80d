/** A person is no longer in an organization. */

import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { orNotFound } from '../../ground/errors.ts';
import { deleteMembership, getMembership } from '../../rows/organizations/membership-store.ts';
import { lockOrganizationRow } from '../../rows/organizations/organization-store.ts';
import { revokeInvitationsOf } from '../../rows/people/invitation-store.ts';
import { deleteRolesOf } from '../../rows/roles/grant-store.ts';
import { leaveTeams } from '../../rows/teams/team-store.ts';
import { requireOtherAdmin } from '../../tenancy/organizations/keep-an-admin.ts';
import { requireRightsOfPerson } from './rights-of-person.ts';

/** Takes membership, roles and teams of one organization from a user. */
export async function leaveOrganization(
  { db }: Pick<ActorContext, 'db'>,
  organizationId: string,
  userId: string,
): Promise<void> {
  await deleteRolesOf(db, organizationId, userId);
  await leaveTeams(db, organizationId, userId);
  await deleteMembership(db, organizationId, userId);
}

/**
 * Removes a member, or an invited person.
 * @throws Refusal 404 where the user is neither, 403 for one with rights that the caller does not have, 409 for the
 * last administrator
 */
export async function removeMember(
  context: ActorContext,
  organizationId: string,
  userId: string,
): Promise<void> {
  await inTransaction(context, async (context) => {
    // The person's rights are locked between the check and the commit.
    await lockOrganizationRow(context.db, organizationId);
    const membership = orNotFound(await getMembership(context.db, organizationId, userId), 'user', userId);
    if (userId !== context.actor.userId)
      await requireRightsOfPerson(context, organizationId, userId, 'Removing this member');
    await requireOtherAdmin(context, organizationId, userId);
    await revokeInvitationsOf(context.db, userId, context.now(), organizationId);
    await leaveOrganization(context, organizationId, userId);
    await recordAudit(context, {
      organizationId,
      action: 'user.removed',
      entityId: userId,
      details: { role: membership.role, status: membership.status },
    });
  });
}
