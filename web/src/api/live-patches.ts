/**
 * Puts what an event tells into what has been read already: every page shows a new status at once, and reads
 * the rest afterwards.
 */
import type { Query, QueryClient } from '@tanstack/react-query';
import type { Deployment } from '#contract/deployments/shapes.ts';
import type { Environment } from '#contract/environments/shapes.ts';
import type { OrganizationStreamEvent } from '#contract/feeds/shapes.ts';
import type { OperationName } from '#contract/operations.ts';

type Updater<Shown> = (shown: Shown) => Shown;
type LiveRow = Environment | Deployment;

const ofEnvironments: readonly OperationName[] = ['listEnvironments', 'getEnvironment'];
const ofDeployments: readonly OperationName[] = ['listDeployments', 'getDeployment'];

/** One row, a list of them, or a page of a list; what is edited has the tag of a version and stays. */
function patched(read: unknown, patch: Updater<LiveRow>): unknown {
  if (Array.isArray(read)) return mapChanged(read as LiveRow[], patch);
  if (typeof read !== 'object' || read === null) return read;
  if ('rows' in read && Array.isArray(read.rows)) {
    const rows = mapChanged(read.rows as LiveRow[], patch);
    return rows === read.rows ? read : { ...read, rows };
  }
  return 'id' in read ? patch(read as LiveRow) : read;
}

/** The same list where nothing in it has changed: its readers are not notified. */
function mapChanged<Shown>(rows: readonly Shown[], patch: Updater<Shown>): readonly Shown[] {
  const changed = rows.map(patch);
  return changed.every((row, index) => row === rows[index]) ? rows : changed;
}

type Patches = ReadonlyMap<OperationName, Updater<LiveRow>>;

/** The operations say which rows are read by them. */
function inReadsOf<Shown extends LiveRow>(
  names: readonly OperationName[],
  patch: Updater<Shown>,
): [OperationName, Updater<LiveRow>][] {
  return names.map((name) => [name, patch as unknown as Updater<LiveRow>]);
}

/** Changes of an event to the reads of each operation. */
function patchesOf(event: OrganizationStreamEvent): Patches {
  if (event.event === 'deployment') {
    const { environmentId, deploymentLogId, environmentStatus, ...changes } = event.data;
    const { status, startedAt, finishedAt } = changes;
    const waitingFor = changes.waitingFor ?? undefined;
    const ofDeployment: Updater<Deployment> = (shown) =>
      shown.id === deploymentLogId ? { ...shown, status, waitingFor, startedAt, finishedAt } : shown;
    const ofEnvironment: Updater<Environment> = (shown) =>
      shown.id === environmentId
        ? {
            ...shown,
            status: environmentStatus,
            latestDeploymentLog: shown.latestDeploymentLog && ofDeployment(shown.latestDeploymentLog),
          }
        : shown;
    return new Map([...inReadsOf(ofDeployments, ofDeployment), ...inReadsOf(ofEnvironments, ofEnvironment)]);
  }
  if (event.event !== 'environment') return new Map();
  const { environmentId, name, status } = event.data;
  const ofEnvironment: Updater<Environment> = (shown) =>
    shown.id === environmentId ? { ...shown, name, status } : shown;
  return new Map(inReadsOf(ofEnvironments, ofEnvironment));
}

interface ReceivedPatches {
  readonly number: number;
  readonly patches: Patches;
}

/** No reading takes so long that more events come during it; if one does, the next reading corrects it. */
const mostKept = 200;

/** The reads of a tab, with what its events tell. */
export class PatchedReads {
  readonly #queries: QueryClient;
  #received: ReceivedPatches[] = [];
  #lastNumber = 0;
  /** The last event before the reading that is under way began. */
  readonly #began = new WeakMap<Query, number>();

  /** @param queries where the reads are kept */
  constructor(queries: QueryClient) {
    this.#queries = queries;
    queries.getQueryCache().subscribe((notice) => {
      if (notice.type !== 'updated') return;
      const { query, action } = notice;
      if (action.type === 'fetch') this.#began.set(query, this.#lastNumber);
      // Reads may be older than the events that have arrived since they began.
      else if (action.type === 'success' && !action.manual) this.#repeat(query);
    });
  }

  /**
   * Changes the reads that an event concerns.
   * @returns hashes of those that were changed
   */
  take(event: OrganizationStreamEvent): ReadonlySet<string> {
    const changed = new Set<string>();
    const patches = patchesOf(event);
    if (patches.size === 0) return changed;
    this.#received = [...this.#received, { number: ++this.#lastNumber, patches }].slice(-mostKept);
    for (const [name, patch] of patches)
      for (const { queryKey, queryHash, state } of this.#queries
        .getQueryCache()
        .findAll({ queryKey: [name] }))
        if (this.#queries.setQueryData(queryKey, (read: unknown) => patched(read, patch)) !== state.data)
          changed.add(queryHash);
    return changed;
  }

  #repeat(query: Query): void {
    const { queryKey } = query;
    const began = this.#began.get(query) ?? this.#lastNumber;
    for (const { patches } of this.#received.filter(({ number }) => number > began)) {
      const patch = patches.get(queryKey[0] as OperationName);
      if (patch) this.#queries.setQueryData(queryKey, (read: unknown) => patched(read, patch));
    }
  }
}
