import { useSyncExternalStore } from 'react';
import { type SavedView, SavedViews } from './views.ts';

const saved = new SavedViews(localStorage);

function subscribe(listener: () => void): () => void {
  const onStorage = ({ key }: StorageEvent) => key !== null && saved.reread(key);
  addEventListener('storage', onStorage);
  const unsubscribe = saved.onChange(listener);
  return () => {
    removeEventListener('storage', onStorage);
    unsubscribe();
  };
}

/** The views of this browser, and a function that keeps others instead. */
export function useViews(
  organizationId: string,
): [readonly SavedView[], (views: readonly SavedView[]) => void] {
  const key = `envarium.views.${organizationId}`;
  const views = useSyncExternalStore(subscribe, () => saved.of(key));
  return [views, (next) => saved.keep(key, next)];
}
