/** A person approves a plan: exactly that is applied, on the state that it was made on. */
import type { ApproveBody } from '#contract/deployments/operations.ts';
import type { DeploymentReference } from '#contract/deployments/shapes.ts';
import { recordAudit } from '../../../framework/audit/record.ts';
import type { ActorContext } from '../../../framework/context.ts';
import { inTransaction } from '../../../ground/database/transaction.ts';
import { conflict, notFound } from '../../../ground/errors.ts';
import { lockDeployment } from '../../../rows/deployments/deployment-store.ts';
import { insertReview } from '../../../rows/deployments/review-store.ts';
import { approvalRefusal } from '../decisions/decide-action.ts';
import { approvedAlready, approverRefusal } from '../decisions/decide-approver.ts';
import { storeProposed } from '../inputs/proposed-changes.ts';
import { evaluatePoliciesAgain } from '../policy-check/policy-check.ts';
import { advanceQueue } from '../transitions/advance-queue.ts';
import { markStep } from '../transitions/follow-decision.ts';
import { moveDeployment } from '../transitions/move-deployment.ts';
import { enqueueApply } from '../transitions/start-apply.ts';
import { getApproverRows } from './load-approvers.ts';

/** The deployment, locked, and why the caller may not approve it. @throws Refusal 404 */
async function requireApprovable({ db, actor }: ActorContext, id: string) {
  const facts = (await getApproverRows(db, [id], [actor.userId])).get(id);
  const locked = facts && (await lockDeployment(db, id, facts.environment_id));
  if (!locked) throw notFound('deployment', id);
  return { locked, approver: approverRefusal(facts, actor.userId) };
}

/**
 * @param body the plan's hash that the caller has read, and why it is approved, if it says so
 * @throws Refusal 409 where the deployment does not wait, the plan is another one or the caller's own, the caller
 * has approved it already, the state has moved on, or what it proposes cannot be stored any more
 */
export async function approveDeployment(
  context: ActorContext,
  id: string,
  { planHash: expectedHash, comment }: ApproveBody,
): Promise<DeploymentReference> {
  return inTransaction(context, async (context) => {
    const { locked, approver } = await requireApprovable(context, id);
    const { deployment, environment } = locked;
    const refusal = approvalRefusal({
      status: deployment.status,
      planHash: deployment.plan_hash,
      expectedHash,
      plannedOn: deployment.planned_on_state_version_id,
      currentState: environment.current_state_version_id,
      environment: { name: environment.name, isLocked: environment.is_locked },
      approver,
    });
    if (refusal !== null) throw conflict(refusal);
    // With policies, this approval may not be the last one; what a deployment proposes is stored with its first plan.
    const isStored = deployment.has_policies || deployment.level !== null;
    const stored = isStored ? environment : await storeProposed(context, locked);
    const review = {
      deploymentId: id,
      userId: context.actor.userId,
      action: 'approved',
      planHash: deployment.plan_hash,
      comment,
      at: context.now(),
    } as const;
    const audit = {
      organizationId: deployment.organization_id,
      projectId: deployment.project_id,
      action: 'deployment.approved',
      entityId: id,
      details: { planHash: deployment.plan_hash, ...(comment === undefined ? {} : { comment }) },
    };
    const [isFirst] = await Promise.all([
      insertReview(context.db, review),
      markStep(context, deployment, 'approval:wait', 'SUCCESS'),
      recordAudit(context, audit),
      deployment.has_policies ? undefined : enqueueApply(context, deployment),
    ]);
    if (!isFirst) throw conflict(approvedAlready);
    if (deployment.has_policies) await evaluatePoliciesAgain(context, deployment);
    const moved = await moveDeployment(context, { deployment, environment: stored }, 'IN_PROGRESS');
    // Parallel deployments had to wait only for the approval.
    await advanceQueue(context, moved.environment, moved.speakers);
    return { id, status: moved.deployment.status };
  });
}
