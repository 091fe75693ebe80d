/**
 * Sends the start mark to the server as soon as the runner has written it, and then lets the runner know that
 * it is stored.
 */

import type { AttemptWake } from '../processes/wake.ts';
import type { SpoolPaths } from '../spool/layout.ts';
import { readMark, readStoredMark, type StartMark } from '../spool/read-attempt.ts';
import { writeWhole } from '../spool/write-file.ts';
import type { Completion } from './completion.ts';

const pollMilliseconds = 250;

export interface MarkShipment {
  readonly paths: SpoolPaths;
  readonly send: (mark: StartMark) => Promise<unknown>;
  /** Whether a failed command may be retried, under its own mark. */
  readonly mayRepeat: boolean;
  readonly wake: AttemptWake;
  readonly completion: Completion;
  readonly signal: AbortSignal;
}

/**
 * @returns once the mark is stored or the attempt has ended; if commands may be repeated, only at the end
 * @throws what `send` throws, and the signal's reason; the runner then never starts the command
 */
export async function shipMark(shipment: MarkShipment): Promise<void> {
  const { paths, wake, completion, signal } = shipment;
  const waiter = wake.waiter('mark');
  while (!completion.isReached()) {
    signal.throwIfAborted();
    const mark = readMark(paths);
    const isStored = mark !== null && mark.mark === readStoredMark(paths);
    if (isStored && !shipment.mayRepeat) return;
    if (mark === null || isStored) {
      await waiter.wait(pollMilliseconds);
      continue;
    }
    await shipment.send(mark);
    writeWhole(paths.markStored, mark.mark);
  }
}
