/** The older operations on the roles of teams in projects and in the organization. */
import { operations } from '#contract/operations.ts';
import { requireRight } from '../../framework/access/check-right.ts';
import type { ActorContext } from '../../framework/context.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { badField, notFound, orNotFound } from '../../ground/errors.ts';
import { lockOrganizationRow } from '../../rows/organizations/organization-store.ts';
import type { Place } from '../../rows/places.ts';
import { assignmentsAt, getAssignment, type RoleAssignmentRow } from '../../rows/roles/assignment-store.ts';
import { assignRole, removeRole } from './assign-role.ts';
import { olderTeamAssignmentView } from './assignment-view.ts';

interface TeamRole {
  readonly teamId: string;
  readonly projectRole: string;
}

/** @throws Refusal 400 where a team is named twice */
function refuseRepeated(wanted: readonly TeamRole[]): void {
  const ids = wanted.map(({ teamId }) => teamId);
  const repeated = ids.findIndex((id, index) => ids.indexOf(id) !== index);
  if (repeated >= 0)
    throw badField(`body.assignments.${repeated}.teamId`, 'names a team for the second time');
}

/** Afterwards, the teams have exactly these roles there. */
async function replaceAll(
  context: ActorContext,
  place: Place,
  wanted: readonly TeamRole[],
): Promise<RoleAssignmentRow[]> {
  refuseRepeated(wanted);
  return inTransaction(context, async (context) => {
    await lockOrganizationRow(context.db, place.organizationId);
    const kept = new Set(wanted.map(({ teamId }) => teamId));
    for (const { team_id: teamId } of await assignmentsAt(context.db, place, 'teams'))
      if (teamId !== null && !kept.has(teamId)) await removeRole(context, place, { teamId });
    for (const [index, { teamId, projectRole }] of wanted.entries()) {
      const field = `body.assignments.${index}`;
      const fields = { roleField: `${field}.projectRole`, holderField: `${field}.teamId` };
      await assignRole(context, { place, holder: { teamId }, role: projectRole, ...fields });
    }
    return assignmentsAt(context.db, place, 'teams');
  });
}

async function remove(context: ActorContext, id: string, place: Place): Promise<{ id: string }> {
  if (place.projectId === null)
    requireRight(context.actor, place, 'EDIT_ORGANIZATION_SETTINGS', 'A role in the organization');
  const { team_id: teamId } = orNotFound(await getAssignment(context.db, id), 'team assignment', id);
  const removed = teamId === null ? null : await removeRole(context, place, { teamId });
  if (!removed) throw notFound('team assignment', id);
  return removed;
}

export const teamAssignmentRoutes: Route[] = [
  route(operations.listTeamAssignments, async (context, { home }) =>
    (await assignmentsAt(context.db, home as Place, 'teams')).map(olderTeamAssignmentView),
  ),
  route(operations.addTeamAssignment, async (context, { body, home }) => {
    const { teamId, projectRole: role } = body;
    const fields = { roleField: 'body.projectRole', holderField: 'body.teamId' };
    const requested = { place: home as Place, holder: { teamId }, role, ...fields };
    return olderTeamAssignmentView(await assignRole(context, requested));
  }),
  route(operations.setTeamAssignments, async (context, { body, home }) => {
    const { projectId, organizationId, assignments } = body;
    const place = home as Place;
    if (projectId !== undefined && organizationId !== undefined && organizationId !== place.organizationId)
      throw badField('body.organizationId', 'does not match the organization of the project');
    return (await replaceAll(context, place, assignments)).map(olderTeamAssignmentView);
  }),
  route(operations.removeTeamAssignment, (context, { params, home }) =>
    remove(context, params.assignmentId, home as Place),
  ),
];
