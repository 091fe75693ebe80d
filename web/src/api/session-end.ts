/** Whether the service has forgotten who this is while the page was open. */
import { useSyncExternalStore } from 'react';

let hasEnded = false;
const listeners = new Set<() => void>();

function set(value: boolean): void {
  if (hasEnded === value) return;
  hasEnded = value;
  for (const listener of listeners) listener();
}

/** Some call was refused because no one is signed in: the page asks for the sign-in above what it shows. */
export function noteSessionEnd(): void {
  set(true);
}

/** The same person is signed in again. */
export function noteSessionStart(): void {
  set(false);
}

/** Whether a user who was signed in has to sign in again. */
export function useSessionEnd(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => hasEnded,
  );
}
