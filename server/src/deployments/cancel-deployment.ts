/** A person refuses a plan, or drops what is queued. */
import type { DeploymentReference } from '#contract/deployments/shapes.ts';
import type { DeploymentStatus } from '#contract/schema/enumerations.ts';
import { permits } from '#contract/life-cycle/life-cycle.ts';
import { recordAudit } from '../audit/record.ts';
import type { ActorContext } from '../context.ts';
import { inTransaction } from '../database/transaction.ts';
import { conflict, notFound } from '../http/errors.ts';
import { advanceQueue } from './advance-queue.ts';
import { type DeploymentRow, insertReview, lockDeployment, openDeployments } from './deployment-store.ts';
import {
  type EnvironmentRow,
  getEnvironmentRow,
  lockEnvironmentRow,
} from '../environments/environment-store.ts';
import { moveDeployment } from './move-deployment.ts';

async function cancel(context: ActorContext, deployment: DeploymentRow): Promise<void> {
  if (deployment.status === 'WAITING_FOR_USER') {
    await insertReview(context.db, {
      deploymentId: deployment.id,
      userId: context.actor.userId,
      action: 'cancelled',
      planHash: deployment.plan_hash,
      at: context.now(),
    });
  }
  await moveDeployment(context, deployment, 'CANCELLED');
  await recordAudit(context, {
    organizationId: deployment.organization_id,
    action: 'deployment.cancelled',
    entity: 'deployment',
    entityId: deployment.id,
  });
}

async function advance(context: ActorContext, environment: EnvironmentRow): Promise<void> {
  const current = await getEnvironmentRow(context.db, environment.id);
  if (current) await advanceQueue(context, current);
}

/** @throws Refusal 409 for a deployment that neither waits nor is queued: what runs is aborted instead */
export async function cancelDeployment(context: ActorContext, id: string): Promise<DeploymentReference> {
  return inTransaction(context, async (context) => {
    const found = await lockDeployment(context.db, id);
    if (!found) throw notFound('deployment', id);
    const status = found.deployment.status as DeploymentStatus;
    if (!permits(status, 'cancel'))
      throw conflict(
        `The deployment is ${status}: only one that is queued or waits for approval can be cancelled${status === 'IN_PROGRESS' ? '; abort it instead' : ''}`,
      );
    await cancel(context, found.deployment);
    await advance(context, found.environment);
    return { id, status: 'CANCELLED' };
  });
}

/**
 * Cancels some of the open deployments; the caller holds the environment's row lock. @returns their ids,
 * oldest first
 */
export async function cancelDeployments(
  context: ActorContext,
  environment: Pick<EnvironmentRow, 'id'>,
  isMeant: (row: DeploymentRow) => boolean,
): Promise<string[]> {
  const meant = (await openDeployments(context.db, environment.id)).filter(isMeant);
  for (const row of meant) await cancel(context, row);
  return meant.map((row) => row.id);
}

export async function cancelQueuedDeployments(
  context: ActorContext,
  environmentId: string,
): Promise<{ ids: string[] }> {
  return inTransaction(context, async (context) => {
    const environment = await lockEnvironmentRow(context.db, environmentId);
    if (!environment) throw notFound('environment', environmentId);
    const ids = await cancelDeployments(context, environment, (row) => row.status === 'QUEUED');
    await advance(context, environment);
    return { ids };
  });
}
