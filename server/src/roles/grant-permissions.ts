/** Gives somebody roles in an organization and its projects, as far as the giver has their rights. */
import type { GrantedPermissions } from '#contract/people/shapes.ts';
import type { RoleScope } from '#contract/schema/built-in-roles.ts';
import { inOrganization, inProject, type Place } from '../access/access.ts';
import { MissingRight } from '../access/check-right.ts';
import { isUuid } from '../access/entity-home.ts';
import { rightsOfRole } from '../access/role-rights.ts';
import type { ActorContext } from '../context.ts';
import { badField, unknownEntity } from '../http/errors.ts';
import { getProjectRow } from '../projects/project-store.ts';
import { putProjectRole } from './grant-store.ts';
import { defaultRoleOf, permissionsOf } from './role-store.ts';

interface NamedRole {
  readonly field: string;
  readonly scope: RoleScope;
  readonly role: string;
  readonly place: Place;
}

/** @throws Refusal 400 for a role that the organization does not have, 403 for rights that the caller lacks */
async function checkRole(
  { db, actor }: ActorContext,
  { field, scope, role, place }: NamedRole,
): Promise<void> {
  const custom = isUuid(role) ? (await permissionsOf(db, [role])).get(role) : undefined;
  if (custom && custom.organizationId !== place.organizationId) throw unknownEntity(field, 'role');
  const rights = rightsOfRole(scope, role, custom?.permissions ?? null);
  if (!custom && rights.size === 0) throw unknownEntity(field, 'role');
  const own = actor.access.rightsAt(place);
  const missing = [...rights].find((right) => !own.has(right));
  if (missing !== undefined)
    throw new MissingRight(`The role of /${field.replaceAll('.', '/')} needs the right ${missing}`, place);
}

/**
 * Checks permissions before they are given.
 * @param given absent: the default role of the organization
 * @param field of the request that has them, as `body.permissions`
 * @throws Refusal 400 for roles and projects that the organization does not have, 403 for rights that the
 * caller does not have there
 */
export async function checkPermissions(
  context: ActorContext,
  organizationId: string,
  given: GrantedPermissions | null | undefined,
  field: string,
): Promise<GrantedPermissions> {
  const permissions = given ?? { organizationRole: await defaultRoleOf(context.db, organizationId) };
  await checkRole(context, {
    field: `${field}.organizationRole`,
    scope: 'organization',
    role: permissions.organizationRole,
    place: inOrganization(organizationId),
  });
  const projects = permissions.projectsPermissions ?? [];
  for (const [index, { projectId, projectRole }] of projects.entries()) {
    const at = `${field}.projectsPermissions.${index}`;
    const project = isUuid(projectId) ? await getProjectRow(context.db, projectId) : undefined;
    if (project?.organization_id !== organizationId) throw unknownEntity(`${at}.projectId`, 'project');
    if (projects.findIndex((each) => each.projectId === projectId) !== index)
      throw badField(`${at}.projectId`, 'is named twice');
    const place = inProject(project);
    await checkRole(context, { field: `${at}.projectRole`, scope: 'project', role: projectRole, place });
  }
  return permissions;
}

/** Stores the roles in projects that were checked; the role in the organization belongs to the membership. */
export async function grantProjectRoles(
  context: ActorContext,
  organizationId: string,
  userId: string,
  { projectsPermissions = [] }: GrantedPermissions,
): Promise<void> {
  for (const { projectId, projectRole } of projectsPermissions)
    await putProjectRole(context.db, {
      id: context.newId(),
      organizationId,
      userId,
      projectId,
      role: projectRole,
      roleId: isUuid(projectRole) ? projectRole : null,
      createdBy: context.actor.userId,
    });
}
