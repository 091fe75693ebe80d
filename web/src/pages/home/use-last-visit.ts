import { useSyncExternalStore } from 'react';
import { Visits } from './visits.ts';

const visits = new Visits(localStorage);

/** Time counts as a visit as long as the inbox can be seen. */
function subscribe(listener: () => void): () => void {
  const onLeave = () => visits.continue();
  document.addEventListener('visibilitychange', onLeave);
  const unsubscribe = visits.onSeen(listener);
  return () => {
    onLeave();
    document.removeEventListener('visibilitychange', onLeave);
    unsubscribe();
  };
}

/**
 * @returns since when something is new, in milliseconds since 1970, and a function that says that all was seen
 */
export function useLastVisit(userId: string, organizationId: string): [number, () => void] {
  const key = `envarium.visits.${userId}.${organizationId}`;
  const since = useSyncExternalStore(subscribe, () => visits.since(key));
  return [since, () => visits.markSeen(key)];
}
