/** SQL of deployments that other deployments cause. */

import type { Connection } from '../../framework/context.ts';
import { systemUserId } from '../users/user-store.ts';

/** Id of the deployment of an environment that another deployment caused; undefined: none so far. */
export async function causedDeployment(
  db: Connection,
  causedBy: string,
  environmentId: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('deployment')
    .select('id')
    .where('caused_by', '=', causedBy)
    .where('environment_id', '=', environmentId)
    .executeTakeFirst();
  return row?.id;
}

/** For whom a deployment was started, so that what it causes is theirs, too; undefined: for no one. */
export async function ownerOf(db: Connection, deploymentId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('deployment')
    .select(['started_by', 'requested_by'])
    .where('id', '=', deploymentId)
    .executeTakeFirst();
  const owner = row?.requested_by ?? row?.started_by;
  return owner === systemUserId ? undefined : owner;
}
