/**
 * A destroy that finds nothing to destroy ends well without its tool: all steps skipped, the environment
 * inactive.
 */
import type { Connection, Context } from '../context.ts';
import type { DeploymentRow } from './deployment-store.ts';
import { moveDeployment } from './move-deployment.ts';

/** @param deployment IN_PROGRESS, without a job; the caller holds the environment's row lock */
export async function endIdleDestroy(
  tx: Connection,
  context: Context,
  deployment: DeploymentRow,
): Promise<DeploymentRow> {
  await tx
    .updateTable('deployment_step')
    .set({ status: 'SKIPPED' })
    .where('deployment_id', '=', deployment.id)
    .execute();
  const found = {
    plan_summary: JSON.stringify({ added: 0, changed: 0, destroyed: 0 }),
    output: JSON.stringify({}),
  };
  return moveDeployment(tx, context, deployment, 'SUCCESS', found);
}
