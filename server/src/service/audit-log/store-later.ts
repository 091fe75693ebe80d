/** Stores data without a waiting caller: entries about refused callers, which a loop writes. */
import type { Context } from '../../framework/context.ts';
import { whyUnavailable } from '../../ground/database/unavailable.ts';

/** Stores one entry, or those of one key. */
export type Store = (context: Context) => Promise<void>;

/** Of an outage: no caller is refused while the database does not answer, so they are from before it. */
const mostKept = 10_000;

/**
 * Stores entries one by one, so that one that cannot be stored costs no other.
 * @param kept what earlier passes left; gets what the database cannot take now
 * @throws the error of the database that cannot serve now
 */
export async function storeAll(context: Context, kept: Store[], fresh: readonly Store[]): Promise<void> {
  const { log } = context;
  const all = [...kept.splice(0), ...fresh];
  for (const [index, store] of all.entries()) {
    try {
      await store(context);
    } catch (error) {
      if (whyUnavailable(error) !== null) {
        kept.push(...all.slice(index, index + mostKept));
        const dropped = all.length - index - kept.length;
        if (dropped > 0) log.error({ dropped }, 'too many entries of the audit trail wait for the database');
        throw error;
      }
      log.error({ err: error }, 'an entry of the audit trail cannot be stored, and is dropped');
    }
  }
}
