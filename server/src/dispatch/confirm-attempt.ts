/** The agent has the attempt's folder on disk: from now on its spool is the truth of the run. */
import type { Context } from '../context.ts';
import type { AttemptInPlace } from './attempt-store.ts';
import { DispatchRefusal } from './refusals.ts';

/** @throws DispatchRefusal `fence_outdated` where the attempt has ended meanwhile */
export async function confirmAttempt(context: Context, { attempt }: AttemptInPlace): Promise<void> {
  const row = await context.db
    .updateTable('attempt')
    .set({ status: 'confirmed', missed_lists: 0 })
    .where('job_id', '=', attempt.job_id)
    .where('number', '=', attempt.number)
    .where('status', '<>', 'ended')
    .returning('number')
    .executeTakeFirst();
  if (!row) throw new DispatchRefusal('fence_outdated', 'This attempt has ended');
}
