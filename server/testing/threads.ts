/** Threads, for tests of how many work at a time. */
import type { Worker } from 'node:worker_threads';

/** Does some work. @returns what it does, and how many threads ran at a time while it was done */
export async function countThreads<Result>(
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly most: number }> {
  let running = 0;
  let most = 0;
  const count = (worker: Worker) => {
    most = Math.max(most, ++running);
    worker.once('exit', () => running--);
  };
  process.on('worker', count);
  try {
    const result = await work();
    return { result, most };
  } finally {
    process.off('worker', count);
  }
}
