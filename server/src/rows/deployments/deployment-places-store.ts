/** SQL of where deployments belong, for lists of what concerns many. */
import type { Connection } from '../../framework/context.ts';
import type { DeploymentRow } from './deployment-row.ts';

/** Homes and types of several deployments. */
export async function getDeploymentPlaces(
  db: Connection,
  ids: readonly string[],
): Promise<Pick<DeploymentRow, 'id' | 'type' | 'environment_id'>[]> {
  if (ids.length === 0) return [];
  return db
    .selectFrom('deployment')
    .select(['id', 'type', 'environment_id'])
    .where('id', 'in', [...ids])
    .execute();
}
