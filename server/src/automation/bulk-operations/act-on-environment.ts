/** Part of a bulk operation for one of its environments: the verb of the single operation, and its right. */

import { type BulkData, bulkRights } from '#contract/bulk-operations/operations.ts';
import type { BulkKind } from '#contract/bulk-operations/shapes.ts';
import { requireRight } from '../../framework/access/check-right.ts';
import { requireEnvironment } from '../../framework/access/lock-or-refuse.ts';
import type { ActorContext } from '../../framework/context.ts';
import { conflict } from '../../ground/errors.ts';
import type { BulkItemRow } from '../../rows/bulk-operations/bulk-store.ts';
import { openDeployments } from '../../rows/deployments/deployment-store.ts';
import type { EnvironmentRow } from '../../rows/environments/environment-store.ts';
import { inEnvironment } from '../../rows/places.ts';
import { approveDeployment } from '../../runs/deployments/approval/approve-deployment.ts';
import { cancelDeployment, cancelQueuedDeployments } from '../../runs/deployments/cancel-deployment.ts';
import { deployEnvironment, destroyEnvironment } from '../../runs/deployments/deploy-environment.ts';
import { setEnvironmentLock } from '../../runs/environments/set-environment-lock.ts';
import { updateEnvironment } from '../../runs/environments/update-environment.ts';

/** The id of the deployment that it was about; nothing where it was about none. */
type ActionResult = { readonly id: string } | null;

/** The plan that waited when the request was accepted. */
type AcceptedPlan = Pick<BulkItemRow, 'waiting_deployment_id' | 'waiting_plan_hash'>;

type ItemAction = (
  context: ActorContext,
  environment: EnvironmentRow,
  data: BulkData,
  accepted: AcceptedPlan,
) => Promise<ActionResult>;

/**
 * The deployment that waits, and its plan, which are decided about.
 * @throws Refusal 409 where none waits, or another one than the request means: it was not read
 */
async function acceptedPlan(
  { db }: ActorContext,
  { id, name }: EnvironmentRow,
  { waiting_deployment_id: deploymentId, waiting_plan_hash: planHash }: AcceptedPlan,
): Promise<{ deploymentId: string; planHash?: string }> {
  const waiting = (await openDeployments(db, id)).find(({ status }) => status === 'WAITING_FOR_USER');
  if (!waiting) throw conflict(`Environment "${name}" has no deployment that waits for approval`);
  if (waiting.id !== deploymentId || waiting.plan_hash !== planHash)
    throw conflict(
      `Environment "${name}" has another plan that waits for approval than the one that this request means: read it, and decide about it in a new request`,
    );
  return { deploymentId: waiting.id, ...(planHash === null ? {} : { planHash }) };
}

const acts: Readonly<Record<BulkKind, ItemAction>> = {
  deploy: (context, { id }, { deploymentType, userRequiresApproval, comment }) =>
    deployEnvironment(context, id, { deploymentType, userRequiresApproval, comment }),
  destroy: (context, { id }, { skipStateRefresh, comment }) =>
    destroyEnvironment(context, id, {
      ...(skipStateRefresh === undefined ? {} : { skipStateRefresh }),
      ...(comment === undefined ? {} : { comment }),
    }),
  'run-task': (context, { id }, { taskPayload, comment }) =>
    deployEnvironment(context, id, { deploymentType: 'task', taskPayload, comment }),
  approve: async (context, environment, _, accepted) => {
    const { deploymentId, ...plan } = await acceptedPlan(context, environment, accepted);
    return approveDeployment(context, deploymentId, plan);
  },
  cancel: async (context, environment, _, accepted) => {
    const { deploymentId, ...plan } = await acceptedPlan(context, environment, accepted);
    return cancelDeployment(context, deploymentId, plan);
  },
  'cancel-queued-deployments': async (context, { id }) => {
    await cancelQueuedDeployments(context, id);
    return null;
  },
  lock: async (context, { id }, { reason }) => {
    await setEnvironmentLock(context, id, { isLocked: true, ...(reason === undefined ? {} : { reason }) });
    return null;
  },
  unlock: async (context, { id }) => {
    await setEnvironmentLock(context, id, { isLocked: false });
    return null;
  },
  archive: async (context, { id }) => {
    await updateEnvironment(context, id, { isArchived: true });
    return null;
  },
};

/**
 * Does to the environment of an item what the operation says, in the transaction of the context.
 * @returns the id of the deployment that it was about, if any
 * @throws Refusal as the single operation does, 403 without its rights in this environment included
 */
export async function actOnEnvironment(
  context: ActorContext,
  kind: BulkKind,
  item: BulkItemRow,
  data: BulkData,
): Promise<string | null> {
  const environment = await requireEnvironment(context, item.environment_id);
  for (const right of bulkRights(kind))
    requireRight(context.actor, inEnvironment(environment), right, 'This');
  return (await acts[kind](context, environment, data, item))?.id ?? null;
}
