/** What a page keeps in its address: filters, tabs and the like, so that a link shows the same. */
import { useNavigate, useSearch } from '@tanstack/react-router';

export type Search = Readonly<Record<string, string | undefined>>;

/** The router reads numbers and the like out of an address: here, all of it is text. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' || value === undefined ? value : JSON.stringify(value);
}

/**
 * The parameters of the address as text, and a function that changes some of them; undefined removes one.
 * Changes replace the entry in the history unless `isStep` says that "back" should lead here.
 */
export function useSearchState(): [Search, (changes: Search, isStep?: boolean) => void] {
  const search = useSearch({ strict: false }) as Record<string, unknown>;
  const navigate = useNavigate();
  const texts = Object.fromEntries(Object.entries(search).map(([key, value]) => [key, textOf(value)]));
  const change = (changes: Search, isStep = false) =>
    void navigate({
      to: '.',
      search: ((before: Record<string, unknown>) => ({ ...before, ...changes })) as never,
      replace: !isStep,
      resetScroll: false,
    });
  return [texts, change];
}
