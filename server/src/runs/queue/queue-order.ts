/** Order of the deployments of an environment. Pure. */

import { serialTypes } from '#contract/life-cycle/life-cycle.ts';
import type { DeploymentStatus } from '#contract/schema/enumerations.ts';

/** Facts that determine a place in the queue. */
export interface QueuedFacts {
  readonly id: string;
  readonly type: string;
  readonly status: DeploymentStatus;
}

/** Whether a type waits its turn; the others run alongside. */
export function isSerial(type: string): boolean {
  return (serialTypes as readonly string[]).includes(type);
}

/**
 * Deployment that another one has to wait for; undefined: none. Pure. A serial one waits for everything serial
 * before it. One that runs alongside waits only while another awaits approval.
 * @param open queued and active deployments of the environment, in the order of the queue
 */
export function waitsFor(
  candidate: Pick<QueuedFacts, 'id' | 'type'>,
  open: readonly QueuedFacts[],
): QueuedFacts | undefined {
  const place = open.findIndex((each) => each.id === candidate.id);
  const ahead = place < 0 ? open : open.slice(0, place);
  return isSerial(candidate.type)
    ? ahead.find((each) => isSerial(each.type))
    : ahead.find((each) => each.status === 'WAITING_FOR_USER');
}
