/** Leaves an environment without a current state on a person's word. */
import type { ActorContext } from '../context.ts';
import { inTransaction } from '../database/transaction.ts';
import { lockEnvironmentRow } from '../environments/environment-store.ts';
import { notFound } from '../http/errors.ts';
import { requireFreeState } from './state-holder.ts';
import { forgetCurrent } from './write-over-http.ts';

/**
 * All versions stay, and a roll-back brings one back.
 * @returns the version that was current, or null
 * @throws Refusal 404, 409 while anybody holds the state
 */
export async function clearState(context: ActorContext, environmentId: string): Promise<string | null> {
  return inTransaction(context, async (context) => {
    const environment = await lockEnvironmentRow(context.db, environmentId);
    if (!environment) throw notFound('environment', environmentId);
    await requireFreeState(context.db, environment);
    return forgetCurrent(context, environment);
  });
}
