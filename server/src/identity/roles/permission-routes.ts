/** Operations on the roles that users have in a project. */
import { operations } from '#contract/operations.ts';
import type { RoleAssignment } from '#contract/roles/shapes.ts';
import type { ActorContext } from '../../framework/context.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { notFound, orNotFound } from '../../ground/errors.ts';
import { inProject } from '../../rows/places.ts';
import { getProjectRow, getProjectRows, type ProjectRow } from '../../rows/projects/project-store.ts';
import { assignmentsInProjects, findAssignment } from '../../rows/roles/assignment-store.ts';
import { membersOfTeams } from '../../rows/teams/team-store.ts';
import { assignRole, removeRole } from './assign-role.ts';
import { type UserAssignment, userAssignmentViews } from './assignment-view.ts';

async function projectOf({ db }: ActorContext, id: string): Promise<ProjectRow> {
  return orNotFound(await getProjectRow(db, id), 'project', id);
}

/** Roles of users in projects, their own and by each of their teams. */
async function heldIn(
  { db }: ActorContext,
  projects: ReadonlyMap<string, ProjectRow>,
): Promise<UserAssignment[]> {
  const rows = await assignmentsInProjects(db, [...projects.keys()]);
  const teamIds = rows.map((row) => row.team_id).filter((id) => id !== null);
  const members = await membersOfTeams(db, teamIds);
  return rows.flatMap((row) => {
    const isProjectArchived = projects.get(row.project_id ?? '')?.is_archived ?? false;
    const userIds = row.user_id === null ? (members.get(row.team_id ?? '') ?? []) : [row.user_id];
    return userIds.map((userId) => ({ row, userId, isProjectArchived }));
  });
}

async function listPermissions(
  context: ActorContext,
  projectId: string,
  isInherited: boolean,
): Promise<RoleAssignment[]> {
  const project = await projectOf(context, projectId);
  const ids = isInherited ? project.hierarchy.split('|') : [project.id];
  const projects = new Map((await getProjectRows(context.db, ids)).map((row) => [row.id, row]));
  const { access, userId } = context.actor;
  const held = await heldIn(context, projects);
  const isManager = access.has('EDIT_PROJECT_SETTINGS', inProject(project));
  return userAssignmentViews(context.db, isManager ? held : held.filter((each) => each.userId === userId));
}

async function assign(
  context: ActorContext,
  projectId: string,
  requested: { readonly userId: string; readonly role: string },
): Promise<RoleAssignment> {
  const project = await projectOf(context, projectId);
  const { userId, role } = requested;
  const row = await assignRole(context, {
    place: inProject(project),
    holder: { userId },
    role,
    roleField: 'body.role',
    holderField: 'body.userId',
  });
  const held = { row, userId, isProjectArchived: project.is_archived };
  const [only] = await userAssignmentViews(context.db, [held]);
  return only as RoleAssignment;
}

export const permissionRoutes: Route[] = [
  route(operations.listProjectPermissions, (context, { params, query }) =>
    listPermissions(context, params.projectId, query.includeInherited ?? false),
  ),
  route(operations.addProjectPermission, (context, { params, body }) =>
    assign(context, params.projectId, body),
  ),
  route(operations.updateProjectPermission, async (context, { params, body }) => {
    const { projectId, userId } = params;
    const place = inProject(await projectOf(context, projectId));
    orNotFound(
      await findAssignment(context.db, place, { userId }),
      'role in this project of the user',
      userId,
    );
    return assign(context, projectId, { userId, role: body.role });
  }),
  route(operations.removeProjectPermission, async (context, { params }) => {
    const { projectId, userId } = params;
    const place = inProject(await projectOf(context, projectId));
    const removed = await removeRole(context, place, { userId });
    if (!removed) throw notFound('role in this project of the user', userId);
    return removed;
  }),
];
