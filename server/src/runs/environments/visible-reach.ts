/** Places where a caller may see environments. */

import type { ActorContext } from '../../framework/context.ts';
import { unknownEntity } from '../../ground/errors.ts';
import type { Reach } from '../../rows/places.ts';
import { projectHome } from '../../rows/projects/project-store.ts';

const nowhere: Reach = { organizationIds: [], projectIds: [], environmentIds: [] };

/** Whether it is empty. */
export function isNowhere(reach: Reach): boolean {
  return Object.values(reach).every((ids: readonly string[]) => ids.length === 0);
}

/**
 * Places where the caller may see environments, narrowed by a query. The project itself is a further filter.
 * @throws Refusal 400 for an organization or a project that the caller does not know
 */
export async function visibleReach(
  { db, actor: { access } }: ActorContext,
  {
    organizationId,
    projectId,
  }: { readonly organizationId?: string | undefined; readonly projectId?: string | undefined },
): Promise<Reach> {
  if (access.organizationIds.length === 0) return nowhere;
  if (organizationId !== undefined && !access.isMember(organizationId))
    throw unknownEntity('query.organizationId', 'organization');
  const reach = access.reach('VIEW_ENVIRONMENT', organizationId);
  if (projectId === undefined) return reach;
  const place = await projectHome(db, projectId);
  if (!place || !access.isMember(place.organizationId)) throw unknownEntity('query.projectId', 'project');
  if (organizationId !== undefined && place.organizationId !== organizationId) return nowhere;
  // The project is filtered by anyway: all of it, or its single environments.
  return access.has('VIEW_ENVIRONMENT', place)
    ? { ...nowhere, organizationIds: [place.organizationId] }
    : { ...nowhere, environmentIds: reach.environmentIds };
}
