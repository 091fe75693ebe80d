/** Takes the locks under which a deployment may be moved. */
import type { Connection } from '../context.ts';
import { type DeploymentRow, getDeploymentRow } from './deployment-store.ts';
import { type EnvironmentRow, lockEnvironmentRow } from './environment-store.ts';

/** The environment is locked first, then the deployment is read as it stands under that lock. */
export async function lockDeployment(
  tx: Connection,
  id: string,
): Promise<{ deployment: DeploymentRow; environment: EnvironmentRow } | undefined> {
  const before = await getDeploymentRow(tx, id);
  const environment = before && (await lockEnvironmentRow(tx, before.environment_id));
  const deployment = environment && (await getDeploymentRow(tx, id));
  return deployment && { deployment, environment };
}
