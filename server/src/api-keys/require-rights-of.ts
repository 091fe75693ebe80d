/** A new secret of a key, or one without its limits, gives all rights of the key. */
import { loadAccess } from '../access/load-access.ts';
import type { ActorContext } from '../context.ts';
import { Refusal } from '../http/errors.ts';

/** @throws Refusal 403 where the key has a right that the caller does not have */
export async function requireRightsOf(
  { db, actor }: ActorContext,
  key: { readonly user_id: string },
  organizationId: string,
): Promise<void> {
  if (actor.userId === key.user_id) return;
  const right = (await loadAccess(db, key.user_id)).rightBeyond(actor.access, organizationId);
  if (right !== undefined)
    throw new Refusal('forbidden', `This key has rights that you do not have, such as ${right}`);
}
