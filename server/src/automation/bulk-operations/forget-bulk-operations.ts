/** Loop: removes the results of old bulk operations. */
import type { Context } from '../../framework/context.ts';
import { deleteBulkOperationsBefore } from '../../rows/bulk-operations/bulk-store.ts';

const keptDays = 30;

export async function forgetBulkOperations({ db, now }: Context): Promise<void> {
  await deleteBulkOperationsBefore(db, new Date(now().getTime() - keptDays * 86_400_000));
}
