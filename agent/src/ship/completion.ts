import type { AttemptWake } from '../processes/wake.ts';

/** The moment from which an attempt's folder no longer changes: its contents are complete. */
export interface Completion {
  readonly isReached: () => boolean;
  readonly reached: Promise<void>;
}

/** @param wake whose waiters learn of the end */
export function createCompletion(wake: AttemptWake): Completion & { reach(): void } {
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
