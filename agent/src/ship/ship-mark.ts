/**
 * Tells the server of the start mark as soon as the runner has written it, and the runner that the server has
 * it.
 */
import type { SpoolPaths } from '../spool/layout.ts';
import { readMark, readStoredMark, type StartMark } from '../spool/read-attempt.ts';
import { writeWhole } from '../spool/write-file.ts';
import type { Completion } from './completion.ts';
import type { Wake } from './wake.ts';

const pollMilliseconds = 250;

export interface MarkShipment {
  readonly paths: SpoolPaths;
  readonly send: (mark: StartMark) => Promise<unknown>;
  /** A failed command may be repeated, under a mark of its own. */
  readonly mayRepeat: boolean;
  readonly wake: Wake;
  readonly completion: Completion;
  readonly signal: AbortSignal;
}

/**
 * @returns once the mark is stored, or the attempt has ended; where commands may be repeated, at the end only
 * @throws what `send` throws, and the signal's reason; the runner then never starts the command that it asked
 * for
 */
export async function shipMark(shipment: MarkShipment): Promise<void> {
  const { paths, wake, completion, signal } = shipment;
  const waiter = wake.waiter();
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
    await writeWhole(paths.markStored, mark.mark);
  }
}
