/** Named filters of the list: those that all people have, and those that this browser keeps for an organization. */
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
function viewsFrom(text: string | null): SavedView[] {
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

/** The views that this browser keeps. */
export class SavedViews {
  readonly #storage: Pick<Storage, 'getItem' | 'setItem'>;
  readonly #known = new Map<string, readonly SavedView[]>();
  readonly #listeners = new Set<() => void>();

  constructor(storage: Pick<Storage, 'getItem' | 'setItem'>) {
    this.#storage = storage;
  }

  /** @returns the same list until it changes */
  of(key: string): readonly SavedView[] {
    const known = this.#known.get(key) ?? viewsFrom(this.#storage.getItem(key));
    this.#known.set(key, known);
    return known;
  }

  /** Keeps other views instead. */
  keep(key: string, views: readonly SavedView[]): void {
    this.#known.set(key, views);
    this.#storage.setItem(key, JSON.stringify(views));
    for (const listener of this.#listeners) listener();
  }

  /** Notes that another page may have kept other views. */
  reread(key: string): void {
    this.#known.delete(key);
    for (const listener of this.#listeners) listener();
  }

  /** Calls back after each change. @returns removes the listener */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
