/** Takes the locks under which a deployment may be moved. */
import type { Connection } from '../context.ts';
import { type DeploymentRow, getDeploymentRow, lockDeploymentRow } from './deployment-store.ts';
import { type EnvironmentRow, lockEnvironmentRow } from './environment-store.ts';

/**
 * The environment first, then the deployment as it stands under that lock; what its run reports waits too, so
 * that events keep their order.
 */
export async function lockDeployment(
  tx: Connection,
  id: string,
): Promise<{ deployment: DeploymentRow; environment: EnvironmentRow } | undefined> {
  const before = await getDeploymentRow(tx, id);
  const environment = before && (await lockEnvironmentRow(tx, before.environment_id));
  const deployment = environment && (await lockDeploymentRow(tx, id));
  return deployment && { deployment, environment };
}
