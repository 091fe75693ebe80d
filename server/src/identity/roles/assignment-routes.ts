/** Operations on the roles that users and teams are assigned in organizations, projects and environments. */
import { operations } from '#contract/operations.ts';
import type { RoleAssignment } from '#contract/roles/shapes.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { unknownEntity } from '../../ground/errors.ts';
import { listMemberRows } from '../../rows/organizations/member-store.ts';
import { getMembership } from '../../rows/organizations/membership-store.ts';
import type { Place } from '../../rows/places.ts';
import { getProjectRow } from '../../rows/projects/project-store.ts';
import { assignmentsAt, type RoleAssignmentRow } from '../../rows/roles/assignment-store.ts';
import { setMemberRole } from '../../tenancy/organizations/change-member.ts';
import { assignRole, removeRole, requireHolder } from './assign-role.ts';
import { memberViews, teamAssignmentView, userAssignmentViews } from './assignment-view.ts';
import { onlyPlace } from './only-place.ts';

function isOrganization({ projectId, environmentId }: Place): boolean {
  return projectId === null && environmentId === null;
}

async function viewsAt(
  db: Connection,
  { projectId }: Place,
  rows: readonly RoleAssignmentRow[],
): Promise<RoleAssignment[]> {
  const project = projectId === null ? undefined : await getProjectRow(db, projectId);
  const isProjectArchived = project?.is_archived ?? false;
  const held = rows.map((row) => ({ row, userId: row.user_id ?? '', isProjectArchived }));
  return userAssignmentViews(db, held);
}

async function listUserRoles({ db }: ActorContext, place: Place): Promise<RoleAssignment[]> {
  if (isOrganization(place)) return memberViews(db, await listMemberRows(db, place.organizationId));
  return viewsAt(db, place, await assignmentsAt(db, place, 'users'));
}

async function assignUserRole(
  context: ActorContext,
  place: Place,
  { userId, role }: { readonly userId: string; readonly role: string },
): Promise<RoleAssignment> {
  const fields = { roleField: 'body.role', holderField: 'body.userId' };
  if (isOrganization(place)) {
    const unknown = unknownEntity(fields.holderField, 'member of the organization');
    const requested = { role, field: fields.roleField };
    const member = await setMemberRole(context, place.organizationId, userId, requested, unknown);
    const [only] = await memberViews(context.db, [member]);
    return only as RoleAssignment;
  }
  const row = await assignRole(context, { place, holder: { userId }, role, ...fields });
  const [only] = await viewsAt(context.db, place, [row]);
  return only as RoleAssignment;
}

async function removeUserRole(
  context: ActorContext,
  place: Place,
  userId: string,
): Promise<{ id: string } | null> {
  const { organizationId } = place;
  await requireHolder(context, organizationId, { userId }, 'query.userId');
  if (!isOrganization(place)) return removeRole(context, place, { userId });
  const before = await getMembership(context.db, organizationId, userId);
  const unknown = unknownEntity('query.userId', 'member of the organization');
  const requested = { role: 'User', field: 'query.userId' };
  const { id } = await setMemberRole(context, organizationId, userId, requested, unknown);
  return before?.role === 'User' ? null : { id };
}

export const assignmentRoutes: Route[] = [
  route(operations.listUserRoles, (context, { query, home }) =>
    listUserRoles(context, onlyPlace(home, 'query', query)),
  ),
  route(operations.assignUserRole, (context, { body, home }) =>
    assignUserRole(context, onlyPlace(home, 'body', body), body),
  ),
  route(operations.removeUserRole, (context, { query, home }) =>
    removeUserRole(context, onlyPlace(home, 'query', query), query.userId),
  ),
  route(operations.listTeamRoles, async (context, { query, home }) => {
    const rows = await assignmentsAt(context.db, onlyPlace(home, 'query', query), 'teams');
    return rows.map(teamAssignmentView);
  }),
  route(operations.assignTeamRole, async (context, { body, home }) => {
    const place = onlyPlace(home, 'body', body);
    const { teamId, role } = body;
    const fields = { roleField: 'body.role', holderField: 'body.teamId' };
    return teamAssignmentView(await assignRole(context, { place, holder: { teamId }, role, ...fields }));
  }),
  route(operations.removeTeamRole, async (context, { query, home }) => {
    const place = onlyPlace(home, 'query', query);
    const holder = { teamId: query.teamId };
    await requireHolder(context, place.organizationId, holder, 'query.teamId');
    return removeRole(context, place, holder);
  }),
];
