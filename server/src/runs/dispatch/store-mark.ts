/**
 * Stores an attempt's start mark, before its tool begins to change the world: the same again is fine, another
 * is not, unless it replaces the stored one after a known end of its command.
 */
import type { MarkRequest } from '#protocol/messages/attempt.ts';
import type { Context } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { lockAttempt, takeMark, updateAttempt } from '../../rows/dispatch/attempt-store.ts';
import type { AttemptInPlace } from '../../rows/dispatch/call-store.ts';
import { DispatchRefusal } from './messages/refusals.ts';

/**
 * @throws DispatchRefusal `mark_taken` where the attempt has another mark, `fence_outdated` where it has
 * already ended
 */
export async function storeMark(
  context: Context,
  { attempt }: AttemptInPlace,
  { mark, replaces }: Pick<MarkRequest, 'mark' | 'replaces'>,
): Promise<void> {
  if (await takeMark(context.db, attempt, mark, replaces ?? null)) return;
  await inTransaction(context, async (context) => {
    const current = await lockAttempt(context.db, attempt);
    if (current.mark === mark) return;
    if (current.status === 'ended') throw new DispatchRefusal('fence_outdated', 'This attempt has ended');
    if (current.mark !== null && current.mark !== replaces)
      throw new DispatchRefusal(
        'mark_taken',
        'This attempt was already marked as started: it is not started again',
      );
    await updateAttempt(context.db, attempt, { mark });
  });
}
