/** A person refuses a plan, or cancels a queued deployment. */

import type { CancelBody } from '#contract/deployments/operations.ts';
import type { DeploymentReference } from '#contract/deployments/shapes.ts';
import { requireDeployment, requireEnvironment } from '../../framework/access/lock-or-refuse.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { conflict } from '../../ground/errors.ts';
import {
  type DeploymentRow,
  type LockedDeployment,
  openDeployments,
} from '../../rows/deployments/deployment-store.ts';
import { insertReview } from '../../rows/deployments/review-store.ts';
import type { LockedEnvironment } from '../../rows/environments/environment-store.ts';
import { cancelRefusal } from './decisions/decide-action.ts';
import { advanceQueue } from './transitions/advance-queue.ts';
import { moveDeployment } from './transitions/move-deployment.ts';

async function cancel(
  context: ActorContext,
  locked: LockedDeployment,
  comment?: string,
): Promise<LockedEnvironment> {
  const { deployment } = locked;
  if (deployment.status === 'WAITING_FOR_USER') {
    await insertReview(context.db, {
      deploymentId: deployment.id,
      userId: context.actor.userId,
      action: 'cancelled',
      planHash: deployment.plan_hash,
      comment,
      at: context.now(),
    });
  }
  const moved = await moveDeployment(context, locked, 'CANCELLED');
  await recordAudit(context, {
    organizationId: deployment.organization_id,
    projectId: deployment.project_id,
    action: 'deployment.cancelled',
    entityId: deployment.id,
    ...(comment === undefined ? {} : { details: { comment } }),
  });
  return moved.environment;
}

/**
 * @param body the plan's hash that the caller has read, and why it is refused, if it says so
 * @throws Refusal 409 for a deployment that neither waits nor is queued (what runs is aborted instead), and where
 * the plan is another one
 */
export async function cancelDeployment(
  context: ActorContext,
  id: string,
  { planHash: expectedHash, comment }: CancelBody = {},
): Promise<DeploymentReference> {
  return inTransaction(context, async (context) => {
    const locked = await requireDeployment(context, id);
    const { status, plan_hash: planHash } = locked.deployment;
    const refusal = cancelRefusal(status, { planHash, expectedHash });
    if (refusal !== null) throw conflict(refusal);
    await advanceQueue(context, await cancel(context, locked, comment));
    return { id, status: 'CANCELLED' };
  });
}

/** Cancels some of the open deployments. @returns their ids, oldest first, and the environment as it is then */
export async function cancelDeployments(
  context: ActorContext,
  environment: LockedEnvironment,
  isMeant: (row: DeploymentRow) => boolean,
): Promise<{ ids: string[]; environment: LockedEnvironment }> {
  const meant = (await openDeployments(context.db, environment.id)).filter(isMeant);
  let current = environment;
  for (const deployment of meant) current = await cancel(context, { deployment, environment: current });
  return { ids: meant.map((row) => row.id), environment: current };
}

export async function cancelQueuedDeployments(
  context: ActorContext,
  environmentId: string,
): Promise<{ ids: string[] }> {
  return inTransaction(context, async (context) => {
    const before = await requireEnvironment(context, environmentId);
    const { ids, environment } = await cancelDeployments(context, before, (row) => row.status === 'QUEUED');
    await advanceQueue(context, environment);
    return { ids };
  });
}
