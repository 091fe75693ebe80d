/** Signals of one attempt that follow those of the agent, which live much longer. */

/**
 * Like `AbortSignal.any`, whose result is never collected before the signals that it follows once there are
 * listeners for it, together with everything that its listeners refer to.
 * @returns aborted with the first of the signals, or by the caller; disposed, it no longer follows them
 */
export function followSignals(...signals: readonly AbortSignal[]): AbortController & Disposable {
  const controller = new AbortController();
  const follow = (event: Event) => controller.abort((event.target as AbortSignal).reason);
  const aborted = signals.find((signal) => signal.aborted);
  if (aborted !== undefined) controller.abort(aborted.reason);
  else for (const signal of signals) signal.addEventListener('abort', follow, { once: true });
  return Object.assign(controller, {
    [Symbol.dispose]: () => {
      for (const signal of signals) signal.removeEventListener('abort', follow);
    },
  });
}
