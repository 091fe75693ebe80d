/** Rights of a person in an organization: those that an invitation's link gives, and those that a removal takes away. */
import type { ActorContext } from '../../framework/context.ts';
import { getMembership } from '../../rows/organizations/membership-store.ts';
import { assignedRolesOf } from '../../rows/roles/role-store.ts';
import { getTeamRows } from '../../rows/teams/team-store.ts';
import { requireRightsOfMember } from '../../tenancy/organizations/change-member.ts';
import { requireRightsOfRoles } from '../teams/change-team.ts';

/**
 * Others can give an invited person more than the invitation says. Teams that every new person joins do not
 * count: an invitation never needs their rights.
 * @param why what needs the rights
 * @throws MissingRight 403 for rights that the person will have in the organization and the caller does not have
 */
export async function requireRightsOfPerson(
  context: ActorContext,
  organizationId: string,
  userId: string,
  why: string,
): Promise<void> {
  const { db } = context;
  const membership = await getMembership(db, organizationId, userId);
  if (membership) await requireRightsOfMember(context, membership, why);
  const assigned = (await assignedRolesOf(db, userId)).filter(
    (row) => row.organization_id === organizationId,
  );
  const teams = await getTeamRows(
    db,
    assigned.flatMap(({ team_id }) => team_id ?? []),
  );
  const open = new Set(teams.filter((team) => team.is_default).map(({ id }) => id));
  const nonDefault = assigned.filter(({ team_id: id }) => id === null || !open.has(id));
  await requireRightsOfRoles(context, nonDefault, why);
}
