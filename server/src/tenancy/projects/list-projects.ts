/** The projects that the caller may see. */
import type { Project } from '#contract/projects/shapes.ts';
import type { ActorContext } from '../../framework/context.ts';
import { unknownEntity } from '../../ground/errors.ts';
import { listProjectRows } from '../../rows/projects/project-store.ts';
import { projectViews } from './project-view.ts';

/**
 * @param organizationId absent: of all organizations of the caller
 * @param isArchived absent: archived ones and others
 * @throws Refusal 400 for an organization of others
 */
export async function listProjects(
  context: ActorContext,
  organizationId?: string,
  isArchived?: boolean,
): Promise<Project[]> {
  const { access } = context.actor;
  const isUnknown = organizationId !== undefined && !access.isMember(organizationId);
  if (isUnknown && access.organizationIds.length > 0)
    throw unknownEntity('query.organizationId', 'organization');
  const reach = access.reach('VIEW_PROJECT', organizationId);
  return projectViews(context, await listProjectRows(context.db, reach, isArchived));
}
