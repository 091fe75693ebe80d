/** Assigns roles to users and teams, and takes them away. */

import { findRole, requireGrantable, requireRights } from '../../framework/access/grant.ts';
import { changesOf } from '../../framework/audit/changes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { unknownEntity } from '../../ground/errors.ts';
import { getMembership } from '../../rows/organizations/membership-store.ts';
import { lockOrganizationRow } from '../../rows/organizations/organization-store.ts';
import type { Place } from '../../rows/places.ts';
import {
  deleteAssignment,
  findAssignment,
  insertAssignment,
  type RoleAssignmentRow,
  type RoleHolder,
  updateAssignment,
} from '../../rows/roles/assignment-store.ts';
import { getTeamRow } from '../../rows/teams/team-store.ts';

/** Assignment in a request, and the fields that contain it. */
export interface RoleToAssign {
  readonly place: Place;
  readonly holder: RoleHolder;
  readonly role: string;
  readonly roleField: string;
  readonly holderField: string;
}

/** @throws Refusal 400 for a user who is not a member of the organization, and for a team of another one */
export async function requireHolder(
  { db }: Pick<ActorContext, 'db'>,
  organizationId: string,
  holder: RoleHolder,
  field: string,
): Promise<void> {
  if ('userId' in holder) {
    if (!(await getMembership(db, organizationId, holder.userId)))
      throw unknownEntity(field, 'member of the organization');
    return;
  }
  const team = await getTeamRow(db, holder.teamId);
  if (team?.organization_id !== organizationId) throw unknownEntity(field, 'team');
}

function auditOf(
  { organizationId, projectId, environmentId }: Place,
  holder: RoleHolder,
  row: RoleAssignmentRow,
) {
  return {
    organizationId,
    projectId,
    entity: 'roleAssignment',
    entityId: row.id,
    details: { ...holder, projectId, environmentId },
  };
}

/** Users cannot remove what they could not grant. @param why what needs the rights @throws MissingRight 403 */
async function requireRightsOfAssigned(
  { db, actor }: ActorContext,
  place: Place,
  { role }: RoleAssignmentRow,
  why: string,
): Promise<void> {
  const held = await findRole(db, place, role);
  requireRights(actor, place, held?.rights ?? [], why);
}

/**
 * Gives a user or a team a role in a project or an environment, or a team one in the organization; a role that it
 * has there is replaced. The right to assign was checked.
 * @throws Refusal 400 for a role or a holder that the organization does not have, 403 for rights that the caller
 * does not have there itself
 */
export async function assignRole(context: ActorContext, requested: RoleToAssign): Promise<RoleAssignmentRow> {
  return inTransaction(context, async (context) => {
    const { place, holder } = requested;
    await lockOrganizationRow(context.db, place.organizationId);
    await requireHolder(context, place.organizationId, holder, requested.holderField);
    const grantedRole = await requireGrantable(context, place, requested.role, requested.roleField);
    const existing = await findAssignment(context.db, place, holder);
    if (existing?.role === grantedRole.role) return existing;
    if (existing) await requireRightsOfAssigned(context, place, existing, 'Replacing this role');
    const row = existing
      ? await updateAssignment(context.db, existing.id, grantedRole, context.now())
      : await insertAssignment(context.db, context, place, holder, grantedRole);
    await recordAudit(context, {
      action: existing ? 'role.reassigned' : 'role.assigned',
      ...auditOf(place, holder, row),
      ...changesOf(existing ? { role: existing.role } : null, { role: row.role }),
    });
    return row;
  });
}

/**
 * The right was checked.
 * @returns the id of what was removed; null where the holder had no role there
 * @throws MissingRight 403 where the role has rights that the caller does not have there itself
 */
export async function removeRole(
  context: ActorContext,
  place: Place,
  holder: RoleHolder,
): Promise<{ id: string } | null> {
  return inTransaction(context, async (context) => {
    await lockOrganizationRow(context.db, place.organizationId);
    const row = await findAssignment(context.db, place, holder);
    if (!row) return null;
    await requireRightsOfAssigned(context, place, row, 'Removing this role');
    await deleteAssignment(context.db, row.id);
    await recordAudit(context, {
      action: 'role.removed',
      ...auditOf(place, holder, row),
      ...changesOf({ role: row.role }, null),
    });
    return { id: row.id };
  });
}
