/** Opens the counts of a server, as its settings say. */

import type { Context } from '../../framework/context.ts';
import type { ServerSettings } from '../config/config.ts';
import type { Limits } from './counts.ts';
import { LocalCounts } from './local-counts.ts';

/** Each takes about 150 bytes. */
const most = { requests: 100_000, failures: 10_000 };
/** Far below the usual limits. */
const large = { requests: 10, failures: 3 };

/** Opens the counts, and the store that is configured for them; one that does not answer is only logged. */
export async function openLimits(
  settings: Pick<ServerSettings, 'rateLimitStore'>,
  { log, now }: Pick<Context, 'log' | 'now'>,
): Promise<Limits> {
  const requests = new LocalCounts({ now, most: most.requests, large: large.requests });
  const failures = new LocalCounts({ now, most: most.failures, large: large.failures });
  if (settings.rateLimitStore === undefined)
    return { requests, failures, [Symbol.asyncDispose]: () => Promise.resolve() };
  const { SharedCounts, SharedStore } = await import('./shared-counts.ts');
  const store = await SharedStore.open(settings.rateLimitStore.reveal(), log);
  return {
    requests: new SharedCounts(requests, store, 'envarium:requests:'),
    failures: new SharedCounts(failures, store, 'envarium:failures:'),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}
