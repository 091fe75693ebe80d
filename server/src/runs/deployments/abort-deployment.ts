/**
 * A person stops a run: at once if no agent has it, else by an interrupt that lets the tool end and keep its
 * state.
 */

import { policyStep } from '#protocol/tools/steps.ts';
import { requireDeployment } from '../../framework/access/lock-or-refuse.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { conflict } from '../../ground/errors.ts';
import type { DeploymentRow } from '../../rows/deployments/deployment-store.ts';
import { getStepRow } from '../../rows/logs/step-store.ts';
import { withdrawJob } from '../../rows/queue/job-store.ts';
import { abortRefusal } from './decisions/decide-action.ts';
import { advanceQueue } from './transitions/advance-queue.ts';
import { markStep } from './transitions/follow-decision.ts';
import { moveDeployment } from './transitions/move-deployment.ts';

/** Between two phases, its policies are evaluated, and no agent has it. */
async function isChecked({ db }: ActorContext, { id, has_policies: hasPolicies }: DeploymentRow) {
  return hasPolicies && (await getStepRow(db, id, policyStep))?.status === 'IN_PROGRESS';
}

/** @throws Refusal 409 for a deployment that does not run */
export async function abortDeployment(context: ActorContext, id: string): Promise<null> {
  return inTransaction(context, async (context) => {
    const locked = await requireDeployment(context, id);
    const { deployment } = locked;
    const refusal = abortRefusal(deployment.status);
    if (refusal !== null) throw conflict(refusal);
    const isIdle = await isChecked(context, deployment);
    if (deployment.status === 'ABORTING' && !isIdle) return null;
    const by = { aborted_by: context.actor.userId, abort_requested_at: context.now() };
    if (isIdle) await markStep(context, deployment, policyStep, 'CANCELLED');
    const isUnclaimed = (await withdrawJob(context.db, id)) || isIdle;
    const error = JSON.stringify({ message: 'The run was aborted' });
    const moved = await moveDeployment(
      context,
      locked,
      isUnclaimed ? 'ABORTED' : 'ABORTING',
      isUnclaimed ? { ...by, error } : by,
    );
    await recordAudit(context, {
      organizationId: deployment.organization_id,
      projectId: deployment.project_id,
      action: 'deployment.aborted',
      entityId: id,
    });
    if (isUnclaimed) await advanceQueue(context, moved.environment, moved.speakers);
    return null;
  });
}
