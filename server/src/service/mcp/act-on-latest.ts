/** Actions on the deployment that represents its environment. */

import type { DeploymentReference } from '#contract/deployments/shapes.ts';
import { requireEnvironment } from '../../framework/access/lock-or-refuse.ts';
import type { ActorContext } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { abortDeployment } from '../../runs/deployments/abort-deployment.ts';
import { approveDeployment } from '../../runs/deployments/approval/approve-deployment.ts';
import { cancelDeployment } from '../../runs/deployments/cancel-deployment.ts';
import { requireDeploymentRow } from './latest-deployment.ts';

type LatestAction = (context: ActorContext, id: string) => Promise<unknown>;

/** Under the lock of the environment, so that no other deployment becomes the latest. */
function onLatest(
  context: ActorContext,
  environmentId: string,
  act: LatestAction,
): Promise<DeploymentReference> {
  return inTransaction(context, async (context) => {
    const { latest_deployment_id: latestId } = await requireEnvironment(context, environmentId);
    const { id } = await requireDeploymentRow(context, latestId);
    await act(context, id);
    const { status } = await requireDeploymentRow(context, id);
    return { id, status };
  });
}

/** @throws Refusal as `approveDeployment` does */
export function approveLatest(context: ActorContext, environmentId: string): Promise<DeploymentReference> {
  return onLatest(context, environmentId, (context, id) => approveDeployment(context, id, {}));
}

/** @throws Refusal as `cancelDeployment` does */
export function cancelLatest(context: ActorContext, environmentId: string): Promise<DeploymentReference> {
  return onLatest(context, environmentId, (context, id) => cancelDeployment(context, id));
}

/** @throws Refusal as `abortDeployment` does */
export function abortLatest(context: ActorContext, environmentId: string): Promise<DeploymentReference> {
  return onLatest(context, environmentId, abortDeployment);
}
