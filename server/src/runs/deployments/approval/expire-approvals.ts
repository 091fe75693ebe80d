/** Loop: a plan without a timely decision ends as TIMEOUT, and the queue continues. */
import type { Context } from '../../../framework/context.ts';
import { inTransaction } from '../../../ground/database/transaction.ts';
import { lockDeployment, waitingForUserSince } from '../../../rows/deployments/deployment-store.ts';
import { advanceQueue } from '../transitions/advance-queue.ts';
import { moveDeployment } from '../transitions/move-deployment.ts';
import { expiredSince } from './waiting-for-approval.ts';

export async function expireApprovals(context: Context): Promise<void> {
  const before = expiredSince(context.now(), context.settings);
  for (const id of await waitingForUserSince(context.db, before)) {
    await inTransaction(context, async (context) => {
      const found = await lockDeployment(context.db, id);
      if (found?.deployment.status !== 'WAITING_FOR_USER') return;
      const message = `No one approved or refused the plan within ${context.settings.approvalWaitDays} days (ENVARIUM_APPROVAL_WAIT_DAYS)`;
      const moved = await moveDeployment(context, found, 'TIMEOUT', { error: JSON.stringify({ message }) });
      await advanceQueue(context, moved.environment, moved.speakers);
    });
  }
}
