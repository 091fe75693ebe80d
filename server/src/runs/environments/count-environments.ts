/** Numbers of environments that the caller may see. */
import type { StatusCounts } from '#contract/environments/shapes.ts';
import type { EnvironmentStatus } from '#contract/schema/enumerations.ts';
import type { ActorContext } from '../../framework/context.ts';
import { countByStatus, countFiltered } from '../../rows/environments/listed-environment-store.ts';
import { visibleReach } from './visible-reach.ts';

interface CountQuery {
  readonly projectId: string;
  readonly isActive?: boolean;
  /** Words of the list, which were checked. */
  readonly status?: string;
}

/** @throws Refusal 400 for a project that the caller does not know */
export async function countEnvironments(context: ActorContext, query: CountQuery): Promise<number> {
  const { projectId, isActive, status } = query;
  const reach = await visibleReach(context, { projectId });
  return countFiltered(context.db, {
    reach,
    projectId,
    ...(isActive === undefined ? {} : { isActive }),
    ...(status === undefined ? {} : { statuses: status.split(',') as EnvironmentStatus[] }),
  });
}

/** By project and status. */
export async function countStatuses(
  context: ActorContext,
  organizationId: string,
): Promise<Record<string, StatusCounts>> {
  const rows = await countByStatus(context.db, await visibleReach(context, { organizationId }));
  const counts: Record<string, StatusCounts> = {};
  for (const { project_id: id, status, drift, count } of rows) {
    const project = (counts[id] ??= { driftStatus: {}, total: 0 });
    project[status] = (project[status] ?? 0) + count;
    project.driftStatus[drift] = (project.driftStatus[drift] ?? 0) + count;
    project.total += count;
  }
  return counts;
}
