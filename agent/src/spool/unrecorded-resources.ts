import type { Resource } from '#contract/deployments/plan.ts';
import type { Outcome } from '#protocol/messages/outcome.ts';
import type { ProgressEvent, StateReading } from '../drivers/interface/driver.ts';

type Unrecorded = NonNullable<Outcome['unrecorded']>;

/** The contents of a state, with the id of each resource. */
type Contents = Pick<StateReading, 'resources' | 'ids'>;

/**
 * The resources that a tool reported before it was killed and that are not in its last state: created for
 * certain, or started and never finished. What the state had before at the address of a resource that is being
 * replaced is another one.
 * @param events of the attempt, in their order; the last one of each resource counts
 * @param recorded the contents of the last state; null if the tool has encrypted it: then only resources that
 * were started and never finished are listed
 * @param before the contents of the state that the attempt began with; null: there was none, or it is encrypted
 */
export function unrecordedResources(
  events: readonly ProgressEvent[],
  recorded: Contents | null,
  before: Contents | null,
): Unrecorded {
  const [now, earlier] = [idsOf(recorded), idsOf(before)];
  const isRecorded = (event: ProgressEvent) => {
    const id = now.get(keyOf(event));
    if (id === undefined || id === null) return id === null;
    // A tool may shorten the ids that it reports.
    return id === event.id || id !== earlier.get(keyOf(event));
  };
  const last = new Map<string, ProgressEvent>();
  for (const event of events) if (event.action === 'create') last.set(event.address, event);
  return [...last.values()]
    .filter((event) => event.status !== 'failed' && !isRecorded(event))
    .filter(({ status }) => recorded !== null || status !== 'done')
    .map(({ address, id, status }) => ({
      address,
      ...(id === undefined ? {} : { id }),
      certainty: status === 'done' ? 'created' : 'may exist',
    }));
}

/**
 * The contents of the last state of an attempt.
 * @param state null: it wrote none
 * @returns null if the tool has encrypted it
 */
export function recordedIn(state: (Contents & Pick<StateReading, 'isEncrypted'>) | null): Contents | null {
  if (state === null) return { resources: [], ids: [] };
  return state.isEncrypted ? null : state;
}

/** The id of each resource; null: it has none. */
function idsOf(contents: Contents | null): Map<string, string | null> {
  const { resources, ids } = contents ?? { resources: [], ids: [] };
  return new Map(resources.map((resource, at) => [keyOf(resource), ids[at] ?? null]));
}

function keyOf({ moduleName, type, name }: Pick<Resource, 'moduleName' | 'type' | 'name'>): string {
  return JSON.stringify([moduleName, type, name]);
}
