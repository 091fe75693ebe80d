/** Tells the server of the start mark as soon as the runner has written it, and the runner that the server has it. */
import type { SpoolPaths } from '../spool/layout.ts';
import { isMarkStored, readMark } from '../spool/read-attempt.ts';
import { writeWhole } from '../spool/write-file.ts';
import type { End } from './end.ts';
import type { Wake } from './wake.ts';

const pollMilliseconds = 250;

export interface MarkShipment {
  readonly paths: SpoolPaths;
  readonly send: (mark: string) => Promise<unknown>;
  readonly wake: Wake;
  readonly end: End;
  readonly signal: AbortSignal;
}

/**
 * @returns once the mark is stored, or the attempt has ended without one
 * @throws what `send` throws, and the signal's reason; the runner then never starts the command that it asked for
 */
export async function shipMark(shipment: MarkShipment): Promise<void> {
  const waiter = shipment.wake.waiter();
  while (!shipment.end.isReached() && !isMarkStored(shipment.paths)) {
    shipment.signal.throwIfAborted();
    const mark = readMark(shipment.paths);
    if (mark === null) {
      await waiter.wait(pollMilliseconds);
      continue;
    }
    await shipment.send(mark);
    await writeWhole(shipment.paths.markStored, '');
  }
}
