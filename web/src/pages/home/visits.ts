/** When this person was here last, kept by this browser for each person and organization. */

/** After a longer absence a new visit begins. */
const breakMilliseconds = 30 * 60_000;
const firstVisitMilliseconds = 7 * 86_400_000;

interface Visit {
  /** End of the visit before this one: what happened after it is new. */
  readonly since: number;
  /** When this visit was seen to last. */
  readonly seen: number;
}

/** @param before what was kept; undefined: this is the first visit, and the last week is new */
function visitNow(before: Visit | undefined): Visit {
  const now = Date.now();
  if (before === undefined) return { since: now - firstVisitMilliseconds, seen: now };
  const isNew = now - before.seen > breakMilliseconds;
  return { since: isNew ? before.seen : before.since, seen: now };
}

/** @returns what a text of the browser's storage says; undefined for anything else */
function visitFrom(text: string | null): Visit | undefined {
  try {
    const { since, seen } = JSON.parse(text ?? '') as Partial<Visit>;
    if (Number.isFinite(since) && Number.isFinite(seen)) return { since: since!, seen: seen! };
  } catch {
    // A foreign text: as if there was none.
  }
  return undefined;
}

/** The visits that one page knows: the next page that is opened continues with what this one keeps. */
export class Visits {
  readonly #storage: Pick<Storage, 'getItem' | 'setItem'>;
  readonly #known = new Map<string, Visit>();
  readonly #listeners = new Set<() => void>();

  constructor(storage: Pick<Storage, 'getItem' | 'setItem'>) {
    this.#storage = storage;
  }

  /** @returns since when something is new, in milliseconds since 1970 */
  since(key: string): number {
    const visit = this.#known.get(key) ?? visitNow(visitFrom(this.#storage.getItem(key)));
    if (!this.#known.has(key)) this.#keep(key, visit);
    return visit.since;
  }

  /** Notes that the visits have lasted until now. */
  continue(): void {
    for (const [key, visit] of this.#known) this.#keep(key, visitNow(visit));
  }

  /** Notes that all was seen: only what happens from now on is new. */
  markSeen(key: string): void {
    this.#keep(key, { since: Date.now(), seen: Date.now() });
    for (const listener of this.#listeners) listener();
  }

  /** Calls back when all was seen. @returns removes the listener */
  onSeen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #keep(key: string, visit: Visit): void {
    this.#known.set(key, visit);
    this.#storage.setItem(key, JSON.stringify(visit));
  }
}
