/** Effect: removes uploaded code once it has expired and no open deployment needs it. */
import { openStatuses } from '#contract/life-cycle/life-cycle.ts';
import { inTransaction } from '../database/transaction.ts';
import { type EffectKind, promiseEffect } from '../effects/effect-kind.ts';
import { removeBlobs } from '../effects/remove-blobs.ts';

/** How long to wait where a deployment still needs the code. */
const againMilliseconds = 600_000;

export const expireSource: EffectKind<{ readonly sourceId: string }> = {
  name: 'source.expire',
  carryOut(context, { sourceId }) {
    return inTransaction(context, async (context) => {
      const source = await context.db
        .selectFrom('source_archive')
        .select('blob')
        .where('id', '=', sourceId)
        .forUpdate()
        .executeTakeFirst();
      if (!source?.blob) return;
      const needed = await context.db
        .selectFrom('deployment')
        .select('id')
        .where('source_id', '=', sourceId)
        .where('status', 'in', [...openStatuses])
        .limit(1)
        .executeTakeFirst();
      if (needed) return new Date(context.now().getTime() + againMilliseconds);
      await context.db.updateTable('source_archive').set({ blob: null }).where('id', '=', sourceId).execute();
      await promiseEffect(context, removeBlobs, { ids: [source.blob.id] });
      return;
    });
  },
};
