import type { Resource } from '#contract/deployments/plan.ts';
import type { Outcome } from '#protocol/messages/outcome.ts';
import type { RunEvent } from '#protocol/messages/report.ts';

type Unrecorded = NonNullable<Outcome['unrecorded']>;
type ResourceEvent = Extract<RunEvent, { kind: 'resource' }>;

/**
 * The resources that a tool reported before it was killed and that are not in its last state: created for
 * certain, or started and never finished.
 * @param events of the attempt, in their order
 * @param recorded the contents of the last state; null if the tool has encrypted it: then only resources that
 * were started and never finished are listed
 */
export function unrecordedResources(
  events: readonly RunEvent[],
  recorded: readonly Resource[] | null,
): Unrecorded {
  const known = new Set((recorded ?? []).map(keyOf));
  const last = new Map<string, ResourceEvent>();
  for (const event of events)
    if (event.kind === 'resource' && event.action === 'create') last.set(event.address, event);
  return [...last.values()]
    .filter((event) => event.status !== 'failed' && !known.has(keyOf(event)))
    .filter(({ status }) => recorded !== null || status !== 'done')
    .map(({ address, id, status }) => ({
      address,
      ...(id === undefined ? {} : { id }),
      certainty: status === 'done' ? 'created' : 'may exist',
    }));
}

function keyOf({ moduleName, type, name }: Pick<Resource, 'moduleName' | 'type' | 'name'>): string {
  return JSON.stringify([moduleName, type, name]);
}
