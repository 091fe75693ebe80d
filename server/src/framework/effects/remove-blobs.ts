/** Effect: removes files that no row names any more, once the transaction that gave them up has committed. */
import type { EffectKind } from './effect-kind.ts';

export const removeBlobs: EffectKind<{ readonly ids: readonly string[] }> = {
  name: 'blobs.remove',
  async carryOut(context, { ids }) {
    for (const id of ids) await context.blobs.remove({ id });
  },
};
