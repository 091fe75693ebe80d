/** Few outcomes are stored at a time, so that a free agent does not wait for its job behind many that end. */
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import fastq from 'fastq';

/** An outcome that waits, for a lock or a large state, makes room for the next one after this time. */
const longestTurnMilliseconds = 250;

/**
 * @param turns how many at a time; default: one per processor, at least two
 * @returns what begins work in its turn, in the order of the calls, and returns what the work does
 */
export function limitConcurrency(
  turns: number = Math.max(2, availableParallelism()),
): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const queue = fastq.promise((turn: () => Promise<unknown>) => turn(), turns);
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    const { promise, resolve } = Promise.withResolvers<Result>();
    await queue.push(async () => {
      const working = work();
      resolve(working);
      const late = new AbortController();
      const isLate = delay(longestTurnMilliseconds, undefined, { signal: late.signal });
      await Promise.race([working, isLate].map((each) => each.catch(() => undefined)));
      late.abort();
    });
    return promise;
  };
}
