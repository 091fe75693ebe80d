/** Loop: gives up what was tried for long enough, and removes what ended long ago. */
import type { Context } from '../../framework/context.ts';
import { deleteOldDeliveries, giveUpDeliveries } from '../../rows/notifications/delivery-store.ts';

const keptMilliseconds = 30 * 24 * 3_600_000;
const mostAtOnce = 1000;

export async function keepLog({ db, now }: Pick<Context, 'db' | 'now'>): Promise<void> {
  await giveUpDeliveries(db, now());
  const before = new Date(now().getTime() - keptMilliseconds);
  while ((await deleteOldDeliveries(db, before, mostAtOnce)) === mostAtOnce);
}
