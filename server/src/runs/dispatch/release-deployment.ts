/** A person who knows that a run is gone releases its environment before the service gives it up. */

import type { DeploymentReference } from '#contract/deployments/shapes.ts';
import { requireDeployment } from '../../framework/access/lock-or-refuse.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { conflict } from '../../ground/errors.ts';
import { getAgentProcess } from '../../rows/agents/process-store.ts';
import type { DeploymentRow } from '../../rows/deployments/deployment-store.ts';
import { openAttemptOf } from '../../rows/dispatch/attempt-store.ts';
import { reachableSince } from '../agents/contact.ts';
import { giveUp } from './lose-attempt.ts';

/** Longer than an agent needs to end a run that hangs, once it should be aborted. */
function overdueSeconds({ settings }: Pick<ActorContext, 'settings'>): number {
  return settings.abortSeconds + 120;
}

/** Whether a run must have ended since its abort was requested: only its outcome cannot be stored. */
function isAbortOverdue(
  context: ActorContext,
  { status, abort_requested_at: at }: Pick<DeploymentRow, 'status' | 'abort_requested_at'>,
): boolean {
  if (status !== 'ABORTING' || at === null) return false;
  return context.now().getTime() - at.getTime() > overdueSeconds(context) * 1000;
}

function inContact(context: ActorContext, hostname: string): string {
  return `Its agent on ${hostname} is in contact: abort the deployment instead. If it has not ended ${overdueSeconds(context)} seconds later, release it`;
}

/**
 * @param reason kept with the deployment and in the audit trail
 * @throws Refusal 409 for a deployment that no agent runs, or whose agent is in contact and may still end it
 */
export async function releaseDeployment(
  context: ActorContext,
  id: string,
  reason: string,
): Promise<DeploymentReference> {
  return inTransaction(context, async (context) => {
    const locked = await requireDeployment(context, id);
    const { deployment } = locked;
    const attempt = await openAttemptOf(context.db, id);
    const agent = attempt && (await getAgentProcess(context.db, attempt.agent_process_id));
    if (!attempt || !agent)
      throw conflict(
        `The deployment is ${deployment.status} and no agent runs it: there is nothing to release`,
      );
    const isSilent = agent.contact_at < reachableSince(context);
    if (!isSilent && !isAbortOverdue(context, deployment)) throw conflict(inContact(context, agent.hostname));
    const why = isSilent ? 'was unreachable' : 'did not end it after an abort';
    const message = `Given up by ${context.actor.name} while its agent on ${agent.hostname} ${why}: ${reason}`;
    const status = deployment.status === 'ABORTING' ? 'ABORTED' : 'INTERNAL_FAILURE';
    const moved = await giveUp(context, locked, attempt, { status, message });
    await recordAudit(context, {
      organizationId: deployment.organization_id,
      projectId: deployment.project_id,
      action: 'deployment.released',
      entityId: id,
      details: { reason },
    });
    return { id, status: moved.status };
  });
}
