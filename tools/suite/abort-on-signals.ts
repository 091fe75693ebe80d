/** Ends what a process has started when the process gets a signal. */
import { constants } from 'node:os';

const patienceMilliseconds = 10_000;

/** @returns a signal that is aborted by SIGINT and SIGTERM; soon afterwards, the process ends */
export function abortOnSignals(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => {
      controller.abort();
      setTimeout(() => process.exit(128 + constants.signals[name]), patienceMilliseconds).unref();
    });
  }
  return controller.signal;
}
