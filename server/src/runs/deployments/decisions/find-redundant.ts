/** Redundant queued deployments. Pure: facts in, decision out. */
import { isActive } from '#contract/life-cycle/life-cycle.ts';
import { isSerial, type QueuedFacts } from '../../queue/queue-order.ts';

export interface RedundancyFacts extends QueuedFacts {
  /** Resource addresses that it is limited to; empty: it deploys everything. */
  readonly targets: readonly string[];
}

export interface Redundant {
  readonly id: string;
  /** The deployment that makes it redundant. */
  readonly skippedFor: string;
}

/** Whether what one deploys includes what another one does. */
function covers(by: RedundancyFacts, one: RedundancyFacts): boolean {
  if (by.type === 'destroy' || by.targets.length === 0) return true;
  return one.targets.length > 0 && one.targets.every((each) => by.targets.includes(each));
}

/**
 * When the next one is picked: queued deploys up to the next queued destroy, without one up to the last queued deploy
 * that includes them. Never destroys, and nothing that only looks.
 * @param open queued and active deployments of the environment, in the order of the queue
 */
export function findRedundant(open: readonly RedundancyFacts[]): Redundant[] {
  if (open.some(({ type, status }) => isSerial(type) && isActive(status))) return [];
  const changing = open.filter(({ type }) => type === 'deploy' || type === 'destroy');
  const destroyAt = changing.findIndex(({ type }) => type === 'destroy');
  const considered = destroyAt < 0 ? changing : changing.slice(0, destroyAt + 1);
  return considered.flatMap((each, place) => {
    if (each.type === 'destroy') return [];
    const later = considered.slice(place + 1).findLast((other) => covers(other, each));
    return later ? [{ id: each.id, skippedFor: later.id }] : [];
  });
}
