/** SQL of deployments that other deployments cause. */
import type { Connection } from '../../context.ts';

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
