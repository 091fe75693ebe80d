/** Named filters of the list: those that all people have, and those that this browser keeps for an organization. */
import { useSyncExternalStore } from 'react';
import { type FilterKey, filterKeys } from './list-query.ts';

export type ViewFilters = Partial<Record<FilterKey, string>>;

export interface SavedView {
  readonly name: string;
  readonly filters: ViewFilters;
}

const mostViews = 30;
const longestName = 60;

export const builtInViews: readonly SavedView[] = [
  { name: 'All', filters: {} },
  { name: 'Waiting for approval', filters: { status: 'WAITING_FOR_USER', sort: 'updatedAt' } },
  { name: 'Failed', filters: { status: 'FAILED,TIMEOUT', sort: '-updatedAt' } },
  { name: 'Drifted', filters: { drift: 'DRIFTED' } },
  { name: 'Ending soon', filters: { expires: 'three-days', sort: 'lifespanEndAt' } },
  { name: 'Created by me', filters: { mine: 'yes' } },
];

/** Whether two views show the same. */
export function isSameView(a: ViewFilters, b: ViewFilters): boolean {
  return filterKeys.every((key) => (a[key] ?? '') === (b[key] ?? ''));
}

function viewFrom(value: unknown): SavedView[] {
  const { name, filters } = (value ?? {}) as { name?: unknown; filters?: unknown };
  if (typeof name !== 'string' || typeof filters !== 'object' || filters === null) return [];
  const known = filterKeys.flatMap((key) => {
    const text = (filters as Record<string, unknown>)[key];
    return typeof text === 'string' ? [[key, text] as const] : [];
  });
  return [{ name: name.slice(0, longestName), filters: Object.fromEntries(known) }];
}

/** @returns the views in a text of the browser's storage; anything else in it is left out */
export function viewsFrom(text: string | null): SavedView[] {
  try {
    const found: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(found) ? found.flatMap(viewFrom).slice(0, mostViews) : [];
  } catch {
    return [];
  }
}

/** @returns the views with one more; one of the same name is replaced */
export function withView(views: readonly SavedView[], view: SavedView): SavedView[] {
  const named = { ...view, name: view.name.trim().slice(0, longestName) };
  return [...views.filter(({ name }) => name !== named.name), named].slice(-mostViews);
}

const listeners = new Set<() => void>();
const kept = new Map<string, SavedView[]>();

function viewsOf(key: string): SavedView[] {
  const known = kept.get(key) ?? viewsFrom(localStorage.getItem(key));
  kept.set(key, known);
  return known;
}

function subscribe(listener: () => void): () => void {
  const onStorage = ({ key }: StorageEvent) => {
    if (key !== null) kept.delete(key);
    listener();
  };
  addEventListener('storage', onStorage);
  listeners.add(listener);
  return () => {
    removeEventListener('storage', onStorage);
    listeners.delete(listener);
  };
}

/** The views of this browser, and a function that keeps others instead. */
export function useViews(organizationId: string): [readonly SavedView[], (views: SavedView[]) => void] {
  const key = `envarium.views.${organizationId}`;
  const views = useSyncExternalStore(subscribe, () => viewsOf(key));
  const keep = (next: SavedView[]) => {
    kept.set(key, next);
    localStorage.setItem(key, JSON.stringify(next));
    for (const listener of listeners) listener();
  };
  return [views, keep];
}
