/** Loop: a plan that nobody decided about in time ends as TIMEOUT, and the queue goes on. */
import type { Context } from '../context.ts';
import { inTransaction } from '../database/transaction.ts';
import { advanceQueue } from './advance-queue.ts';
import { lockDeployment } from './deployment-store.ts';
import { moveDeployment } from './move-deployment.ts';

const dayMilliseconds = 86_400_000;

export async function expireApprovals(context: Context): Promise<void> {
  const before = new Date(context.now().getTime() - context.settings.approvalWaitDays * dayMilliseconds);
  const late = await context.db
    .selectFrom('deployment')
    .select('id')
    .where('status', '=', 'WAITING_FOR_USER')
    .where('updated_at', '<', before)
    .execute();
  for (const { id } of late) {
    await inTransaction(context, async (context) => {
      const found = await lockDeployment(context.db, id);
      if (found?.deployment.status !== 'WAITING_FOR_USER') return;
      const message = `Nobody approved or refused the plan within ${context.settings.approvalWaitDays} days (ENVARIUM_APPROVAL_WAIT_DAYS)`;
      const moved = await moveDeployment(context, found, 'TIMEOUT', { error: JSON.stringify({ message }) });
      await advanceQueue(context, moved.environment);
    });
  }
}
