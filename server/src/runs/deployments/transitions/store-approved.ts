/** Stores what a deployment proposes once its policies need no further approval. */

import { loadAccess } from '../../../framework/access/load-access.ts';
import type { ActorContext, Context } from '../../../framework/context.ts';
import type { LockedDeployment } from '../../../rows/deployments/deployment-store.ts';
import { listReviews } from '../../../rows/deployments/review-store.ts';
import { getUsers } from '../../../rows/users/user-store.ts';
import { storeProposed } from '../inputs/proposed-changes.ts';
import { readInputs } from '../inputs/run-inputs.ts';

/** Acts for the user who approved last, with the rights of now. */
async function asLastApprover(context: Context, deploymentId: string): Promise<ActorContext> {
  const reviews = await listReviews(context.db, [deploymentId]);
  const userId = reviews.findLast(({ action }) => action === 'approved')?.user_id;
  if (userId === undefined) throw new Error(`No one has approved deployment ${deploymentId}`);
  const [access, users] = await Promise.all([loadAccess(context.db, userId), getUsers(context.db, [userId])]);
  const { name = userId, email = '' } = users.get(userId) ?? {};
  const actor = { userId, name, email, keyId: null, sessionId: null, access };
  return { ...context, actor, requestId: `approval of ${deploymentId}` };
}

/**
 * In the name of the user who approved last.
 * @throws Refusal 409 where something has changed in the meantime, so that it is no longer possible
 */
export async function storeApproved(context: Context, locked: LockedDeployment): Promise<void> {
  const { id } = locked.deployment;
  const { proposed } = await readInputs(context, id);
  if (proposed) await storeProposed(await asLastApprover(context, id), locked);
}
