/** What the link of an invitation gives. */
import { requireRights } from '../access/grant.ts';
import { rightsOfRole } from '../access/role-rights.ts';
import type { ActorContext } from '../context.ts';
import { requireRightsOfMember } from '../organizations/change-member.ts';
import { getMembership } from '../organizations/membership-store.ts';
import { assignedRolesOf } from '../roles/role-store.ts';
import { placeOf } from '../teams/change-team.ts';
import { getTeamRows } from '../teams/team-store.ts';

const renewal = 'A new link of this invitation';

/**
 * Others can give an invited person more than the invitation says. Teams that every new person joins do not
 * count: an invitation never needs their rights.
 * @throws MissingRight 403 for rights that the person will have in the organization and the caller does not have
 */
export async function requireRightsOfInvited(
  context: ActorContext,
  organizationId: string,
  userId: string,
): Promise<void> {
  const { db, actor } = context;
  const membership = await getMembership(db, organizationId, userId);
  if (membership) await requireRightsOfMember(context, membership, renewal);
  const assigned = (await assignedRolesOf(db, userId)).filter(
    (row) => row.organization_id === organizationId,
  );
  const teams = await getTeamRows(
    db,
    assigned.flatMap(({ team_id }) => team_id ?? []),
  );
  const open = new Set(teams.filter((team) => team.is_default).map(({ id }) => id));
  for (const row of assigned) {
    if (row.team_id !== null && open.has(row.team_id)) continue;
    const place = await placeOf(context, row);
    const scope =
      row.environment_id !== null ? 'environment' : row.project_id !== null ? 'project' : 'organization';
    requireRights(actor, place, rightsOfRole(scope, row.role, row.permissions), renewal);
  }
}
