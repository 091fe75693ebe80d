/** State of a page in its address: filters, tabs and the like, so that a link shows the same. */
import { useNavigate, useSearch } from '@tanstack/react-router';

export type Search = Readonly<Record<string, string | undefined>>;

/** Parameters behind the `?` of an address, as the router keeps them: all of them are text. */
export function searchOf(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}

/** The same as text, with its `?`; without parameters that are not there. */
export function textOfSearch(search: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(search).filter(([, value]) => value !== undefined && value !== null);
  const text = new URLSearchParams(pairs.map(([key, value]) => [key, String(value)])).toString();
  return text === '' ? '' : `?${text}`;
}

/**
 * The parameters of the address as text, and a function that changes some of them; undefined removes one.
 * Changes replace the entry in the history unless `isStep` says that "back" should lead here.
 */
export function useSearchState(): [Search, (changes: Search, isStep?: boolean) => void] {
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const change = (changes: Search, isStep = false) =>
    void navigate({
      to: '.',
      search: ((before: Record<string, unknown>) => ({ ...before, ...changes })) as never,
      replace: !isStep,
      resetScroll: false,
    });
  return [search, change];
}
