import type { Wake } from './wake.ts';

/** When nobody writes to an attempt's folder any more: what is there then is all there will be. */
export interface Completion {
  readonly isReached: () => boolean;
  readonly reached: Promise<void>;
}

/** @param wake whose waiters hear of the end */
export function createCompletion(wake: Wake): Completion & { reach(): void } {
  let isReached = false;
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    isReached: () => isReached,
    reached: promise,
    reach() {
      isReached = true;
      resolve();
      wake.notify();
    },
  };
}
