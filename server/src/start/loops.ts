/** What the service does periodically. A failed pass is logged, and the next one follows. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from '../context.ts';
import type { Loop } from '../family.ts';

/** Starts loops; dispose the result to end them after their pass. */
export function startLoops(context: Context, loops: readonly Loop[]): AsyncDisposable {
  const closing = new AbortController();
  const run = async (loop: Loop) => {
    while (!closing.signal.aborted) {
      try {
        await loop.pass(context);
      } catch (error) {
        context.log.error({ err: error, loop: loop.name }, 'loop pass failed');
      }
      await delay(loop.everySeconds * 1000, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  };
  const running = loops.map(run);
  return {
    async [Symbol.asyncDispose]() {
      closing.abort();
      await Promise.all(running);
    },
  };
}
