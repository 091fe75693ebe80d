/** A person refuses a plan, or drops what is queued. */
import type { DeploymentReference } from '#contract/deployments/shapes.ts';
import type { DeploymentStatus } from '#contract/schema/enumerations.ts';
import { permits } from '#contract/life-cycle/life-cycle.ts';
import { recordAudit } from '../audit/record.ts';
import type { ActorContext, Connection } from '../context.ts';
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

async function cancel(tx: Connection, context: ActorContext, deployment: DeploymentRow): Promise<void> {
  if (deployment.status === 'WAITING_FOR_USER') {
    await insertReview(tx, {
      deploymentId: deployment.id,
      userId: context.actor.userId,
      action: 'cancelled',
      planHash: deployment.plan_hash,
      at: context.now(),
    });
  }
  await moveDeployment(tx, context, deployment, 'CANCELLED');
  await recordAudit(tx, context, {
    organizationId: deployment.organization_id,
    action: 'deployment.cancelled',
    entity: 'deployment',
    entityId: deployment.id,
  });
}

async function advance(tx: Connection, context: ActorContext, environment: EnvironmentRow): Promise<void> {
  const current = await getEnvironmentRow(tx, environment.id);
  if (current) await advanceQueue(tx, context, current);
}

/** @throws Refusal 409 for a deployment that neither waits nor is queued: what runs is aborted instead */
export async function cancelDeployment(context: ActorContext, id: string): Promise<DeploymentReference> {
  return inTransaction(context.db, async (tx) => {
    const found = await lockDeployment(tx, id);
    if (!found) throw notFound('deployment', id);
    const status = found.deployment.status as DeploymentStatus;
    if (!permits(status, 'cancel'))
      throw conflict(
        `The deployment is ${status}: only one that is queued or waits for approval can be cancelled${status === 'IN_PROGRESS' ? '; abort it instead' : ''}`,
      );
    await cancel(tx, context, found.deployment);
    await advance(tx, context, found.environment);
    return { id, status: 'CANCELLED' };
  });
}

/**
 * Cancels some of the open deployments; the caller holds the environment's row lock. @returns their ids,
 * oldest first
 */
export async function cancelDeployments(
  tx: Connection,
  context: ActorContext,
  environment: Pick<EnvironmentRow, 'id'>,
  isMeant: (row: DeploymentRow) => boolean,
): Promise<string[]> {
  const meant = (await openDeployments(tx, environment.id)).filter(isMeant);
  for (const row of meant) await cancel(tx, context, row);
  return meant.map((row) => row.id);
}

export async function cancelQueuedDeployments(
  context: ActorContext,
  environmentId: string,
): Promise<{ ids: string[] }> {
  return inTransaction(context.db, async (tx) => {
    const environment = await lockEnvironmentRow(tx, environmentId);
    if (!environment) throw notFound('environment', environmentId);
    const ids = await cancelDeployments(tx, context, environment, (row) => row.status === 'QUEUED');
    await advance(tx, context, environment);
    return { ids };
  });
}
