/** When this person was here last, kept by this browser for each person and organization. */
import { useSyncExternalStore } from 'react';

/** After a longer absence a new visit begins. */
const breakMilliseconds = 30 * 60_000;
const firstVisitMilliseconds = 7 * 86_400_000;

export interface Visits {
  /** End of the visit before this one: what happened after it is new. */
  readonly since: number;
  /** When this visit was seen to last. */
  readonly seen: number;
}

/**
 * @param before what was kept; undefined: this is the first visit, and the last week is new
 * @param now milliseconds since 1970
 */
export function visitsAt(before: Visits | undefined, now: number): Visits {
  if (before === undefined) return { since: now - firstVisitMilliseconds, seen: now };
  const isNew = now - before.seen > breakMilliseconds;
  return { since: isNew ? before.seen : before.since, seen: now };
}

/** @returns what a text of the browser's storage says; undefined for anything else */
export function visitsFrom(text: string | null): Visits | undefined {
  try {
    const { since, seen } = JSON.parse(text ?? '') as Partial<Visits>;
    if (Number.isFinite(since) && Number.isFinite(seen)) return { since: since!, seen: seen! };
  } catch {
    // A foreign text: as if there was none.
  }
  return undefined;
}

const kept = new Map<string, Visits>();
const listeners = new Set<() => void>();

function keep(key: string, visits: Visits): void {
  kept.set(key, visits);
  localStorage.setItem(key, JSON.stringify(visits));
}

function visitsOf(key: string): Visits {
  const known = kept.get(key);
  if (known !== undefined) return known;
  const visits = visitsAt(visitsFrom(localStorage.getItem(key)), Date.now());
  keep(key, visits);
  return visits;
}

/** Time counts as a visit as long as the inbox can be seen. */
function subscribe(listener: () => void): () => void {
  const onLeave = () => {
    for (const [key, visits] of kept) keep(key, visitsAt(visits, Date.now()));
  };
  document.addEventListener('visibilitychange', onLeave);
  listeners.add(listener);
  return () => {
    onLeave();
    document.removeEventListener('visibilitychange', onLeave);
    listeners.delete(listener);
  };
}

/**
 * @returns since when something is new, in milliseconds since 1970, and a function that says that all was seen
 */
export function useLastVisit(userId: string, organizationId: string): [number, () => void] {
  const key = `envarium.visits.${userId}.${organizationId}`;
  const since = useSyncExternalStore(subscribe, () => visitsOf(key).since);
  const markSeen = () => {
    keep(key, { since: Date.now(), seen: Date.now() });
    for (const listener of listeners) listener();
  };
  return [since, markSeen];
}
