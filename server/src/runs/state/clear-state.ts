/** Leaves an environment without a current state, at a person's request. */
import { requireEnvironment } from '../../framework/access/lock-or-refuse.ts';
import type { ActorContext } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { requireFreeState } from './state-holder.ts';
import { forgetCurrent } from './write-state.ts';

/**
 * All versions are kept, and a roll-back restores one.
 * @returns the version that was current, or null
 * @throws Refusal 404, 409 while the state is held
 */
export async function clearState(context: ActorContext, environmentId: string): Promise<string | null> {
  return inTransaction(context, async (context) => {
    const environment = await requireEnvironment(context, environmentId);
    await requireFreeState(context.db, environment);
    return forgetCurrent(context, environment);
  });
}
