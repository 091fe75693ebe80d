/** A person approves a plan: exactly that is applied, on the state that it was made on. */
import type { DeploymentReference } from '#contract/deployments/shapes.ts';
import { recordAudit } from '../audit/record.ts';
import type { ActorContext } from '../context.ts';
import { inTransaction } from '../database/transaction.ts';
import { getPlanningAttempt } from '../dispatch/attempt-store.ts';
import { conflict } from '../http/errors.ts';
import { enqueueJob } from '../queue/enqueue.ts';
import { advanceQueue } from './advance-queue.ts';
import { approvalRefusal } from './decisions/decide-action.ts';
import { requireDeployment } from './deployment-store.ts';
import { insertReview } from './review-store.ts';
import { markStep } from './finish-phase.ts';
import { moveDeployment } from './move-deployment.ts';

/**
 * @param expectedHash the plan's hash that the caller has read, if it says so
 * @throws Refusal 409 where the deployment does not wait, the plan is another one, or the state has moved on
 */
export async function approveDeployment(
  context: ActorContext,
  id: string,
  expectedHash: string | undefined,
): Promise<DeploymentReference> {
  return inTransaction(context, async (context) => {
    const locked = await requireDeployment(context, id);
    const { deployment, environment } = locked;
    const refusal = approvalRefusal({
      status: deployment.status,
      planHash: deployment.plan_hash,
      expectedHash,
      plannedOn: deployment.planned_on_state_version_id,
      currentState: environment.current_state_version_id,
      environment: { name: environment.name, isLocked: environment.is_locked },
    });
    if (refusal !== null) throw conflict(refusal);
    await insertReview(context.db, {
      deploymentId: id,
      userId: context.actor.userId,
      action: 'approved',
      planHash: deployment.plan_hash,
      at: context.now(),
    });
    await markStep(context, deployment, 'approval:wait', 'SUCCESS');
    const planned = await getPlanningAttempt(context.db, id);
    await enqueueJob(
      context,
      {
        deploymentId: id,
        phase: 'apply',
        tool: deployment.tool,
        workFolder: deployment.work_folder,
      },
      planned?.agent_process_id,
    );
    const moved = await moveDeployment(context, locked, 'IN_PROGRESS');
    // What runs alongside had to wait only for the approval.
    await advanceQueue(context, moved.environment, moved.speakers);
    await recordAudit(context, {
      organizationId: deployment.organization_id,
      action: 'deployment.approved',
      entity: 'deployment',
      entityId: id,
      details: { planHash: deployment.plan_hash },
    });
    return { id, status: moved.deployment.status };
  });
}
