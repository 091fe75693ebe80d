/** Periodic work of the service. A failed pass is logged, and the next one follows. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from '../framework/context.ts';
import type { Loop } from '../framework/family.ts';

/** Until the next pass, in milliseconds. */
async function pauseOf(context: Context, { everySeconds, nextAt }: Loop): Promise<number> {
  const usual = everySeconds * 1000;
  const next = await nextAt?.(context);
  return next ? Math.min(usual, Math.max(0, next.getTime() - context.now().getTime())) : usual;
}

/** Starts loops; dispose the result to end them after their pass. */
export function startLoops(context: Context, loops: readonly Loop[]): AsyncDisposable {
  const closing = new AbortController();
  const run = async (loop: Loop) => {
    while (!closing.signal.aborted) {
      let pause = loop.everySeconds * 1000;
      try {
        await loop.pass(context, closing.signal);
        if (!closing.signal.aborted) pause = await pauseOf(context, loop);
      } catch (error) {
        context.log.error({ err: error, loop: loop.name }, 'loop pass failed');
      }
      await delay(pause, undefined, { signal: closing.signal }).catch(() => undefined);
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
