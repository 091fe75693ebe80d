/** Effect: removes uploaded code once it has expired and no open deployment needs it. */

import { type EffectKind, promiseEffect } from '../../framework/effects/effect-kind.ts';
import { removeBlobs } from '../../framework/effects/remove-blobs.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { isSourceNeeded } from '../../rows/deployments/deployment-store.ts';
import { clearSourceBlob, lockSourceRow } from '../../rows/sources/source-store.ts';

/** Delay for code that a deployment still needs. */
const againMilliseconds = 600_000;

export const expireSource: EffectKind<{ readonly sourceId: string }> = {
  name: 'source.expire',
  carryOut(context, { sourceId }) {
    return inTransaction(context, async (context) => {
      const source = await lockSourceRow(context.db, sourceId);
      if (!source?.blob) return;
      if (await isSourceNeeded(context.db, sourceId))
        return new Date(context.now().getTime() + againMilliseconds);
      await clearSourceBlob(context.db, sourceId);
      await promiseEffect(context, removeBlobs, { ids: [source.blob.id] });
      return;
    });
  },
};
