/** Changes the role of members of an organization. */

import { findRole, requireGrantable, requireRights } from '../../framework/access/grant.ts';
import { changesOf } from '../../framework/audit/changes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import type { Refusal } from '../../ground/errors.ts';
import {
  getMembership,
  type MembershipRow,
  updateMembership,
} from '../../rows/organizations/membership-store.ts';
import { lockOrganizationRow } from '../../rows/organizations/organization-store.ts';
import { inOrganization } from '../../rows/places.ts';
import { requireOtherAdmin } from './keep-an-admin.ts';

/** Users cannot remove what they could not grant. @param what needs the rights @throws MissingRight 403 */
export async function requireRightsOfMember(
  { db, actor }: Pick<ActorContext, 'db' | 'actor'>,
  { organization_id, role }: Pick<MembershipRow, 'organization_id' | 'role'>,
  what = 'A change of this member',
): Promise<void> {
  const place = inOrganization(organization_id);
  const held = await findRole(db, place, role);
  requireRights(actor, place, held?.rights ?? [], what);
}

/**
 * The right was checked.
 * @param requested the role, and the field of the request that names it
 * @param unknown thrown where the user is not a member
 * @throws Refusal 400 for a role that the organization cannot have, 403 for rights that the caller does not have,
 * 409 for the last admin
 */
export async function setMemberRole(
  context: ActorContext,
  organizationId: string,
  userId: string,
  requested: { readonly role: string; readonly field: string },
  unknown: Refusal,
): Promise<MembershipRow> {
  return inTransaction(context, async (context) => {
    await lockOrganizationRow(context.db, organizationId);
    const member = await getMembership(context.db, organizationId, userId);
    if (!member) throw unknown;
    const { role } = await requireGrantable(
      context,
      inOrganization(organizationId),
      requested.role,
      requested.field,
    );
    if (role === member.role) return member;
    await requireRightsOfMember(context, member);
    await requireOtherAdmin(context, organizationId, userId);
    // Manual decisions are no longer kept in step by a source.
    await updateMembership(context.db, organizationId, userId, { role, source: null });
    await recordAudit(context, {
      organizationId,
      action: 'user.roleChanged',
      entityId: userId,
      ...changesOf({ role: member.role }, { role }),
    });
    return { ...member, role, source: null };
  });
}
