/** The agent has the attempt's folder on disk: from now on its spool is the truth of the run. */
import type { Context } from '../context.ts';
import { type AttemptInPlace, confirmAttemptRow } from './attempt-store.ts';
import { DispatchRefusal } from './refusals.ts';

/** @throws DispatchRefusal `fence_outdated` where the attempt has ended meanwhile */
export async function confirmAttempt(context: Context, { attempt }: AttemptInPlace): Promise<void> {
  if (!(await confirmAttemptRow(context.db, attempt)))
    throw new DispatchRefusal('fence_outdated', 'This attempt has ended');
}
