/** Gives a user roles in an organization and its projects, as far as the giver has their rights. */
import type { GrantedPermissions } from '#contract/people/shapes.ts';
import { requireGrantable } from '../../framework/access/grant.ts';
import type { ActorContext } from '../../framework/context.ts';
import { badField, unknownEntity } from '../../ground/errors.ts';
import { isUuid } from '../../rows/entity-home.ts';
import { inOrganization, inProject } from '../../rows/places.ts';
import { getProjectRow } from '../../rows/projects/project-store.ts';
import { putProjectRole } from '../../rows/roles/grant-store.ts';
import { defaultRoleOf } from '../../rows/roles/role-store.ts';

/**
 * Checks permissions before they are granted.
 * @param requested absent: the default role of the organization
 * @param field of the request that has them, as `body.permissions`
 * @throws Refusal 400 for roles and projects that the organization does not have, 403 for rights that the
 * caller does not have there
 */
export async function checkPermissions(
  context: ActorContext,
  organizationId: string,
  requested: GrantedPermissions | null | undefined,
  field: string,
): Promise<GrantedPermissions> {
  const permissions = requested ?? { organizationRole: await defaultRoleOf(context.db, organizationId) };
  const organization = inOrganization(organizationId);
  await requireGrantable(context, organization, permissions.organizationRole, `${field}.organizationRole`);
  const projects = permissions.projectsPermissions ?? [];
  for (const [index, { projectId, projectRole }] of projects.entries()) {
    const at = `${field}.projectsPermissions.${index}`;
    const project = await getProjectRow(context.db, projectId);
    if (project?.organization_id !== organizationId) throw unknownEntity(`${at}.projectId`, 'project');
    if (projects.findIndex((each) => each.projectId === projectId) !== index)
      throw badField(`${at}.projectId`, 'is named twice');
    await requireGrantable(context, inProject(project), projectRole, `${at}.projectRole`);
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
