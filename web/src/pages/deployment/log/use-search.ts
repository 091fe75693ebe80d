/** The search of the log as the page needs it. */
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import type { LogSession, LogState } from './log-session.ts';
import type { SearchText } from './store/pattern.ts';
import type { LogPosition, SearchCount, SearchHit } from './store/search.ts';

export interface LogSearch {
  readonly search: SearchText;
  readonly count: SearchCount | undefined;
  /** Why the expression cannot be used. */
  readonly error: string | undefined;
  /** The line with a hit at which the person is. */
  readonly searchHit: SearchHit | undefined;
  readonly ordinal: number | undefined;
  readonly setSearch: (search: SearchText) => void;
  /** Goes to the next line with a hit, or to the one before. */
  readonly go: (isBackwards: boolean) => void;
}

const empty: SearchText = { text: '', isRegex: false, isCaseSensitive: false };
const typingMilliseconds = 80;

/**
 * @param top the first line in view: the search jumps to the first hit below it
 * @param onFound shows a line
 */
export function useSearch(
  session: LogSession,
  { count, searchNumber, searchError }: LogState,
  top: () => LogPosition | undefined,
  onFound: (place: SearchHit) => void,
): LogSearch {
  const [search, setText] = useState(empty);
  const [searchHit, setSearchHit] = useState<SearchHit>();
  const [error, setError] = useState<string>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const jumped = useRef(0);
  const goFrom = async (from: LogPosition | undefined, isBackwards: boolean) => {
    const next = await session.ask('next', { from, isBackwards });
    setSearchHit(next);
    if (next) onFound(next);
  };
  const start = (next: SearchText) => {
    try {
      session.search(next.text === '' ? undefined : next);
      setError(undefined);
    } catch (thrown) {
      session.search(undefined);
      setError(thrown instanceof Error ? thrown.message : String(thrown));
    }
  };
  const setSearch = (next: SearchText) => {
    setText(next);
    setSearchHit(undefined);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => start(next), typingMilliseconds);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  const jump = useEffectEvent(() => {
    const from = top();
    void goFrom(from && { ...from, line: from.line - 1 }, false);
  });
  const hasFound = (count?.lines ?? 0) > 0;
  useEffect(() => {
    if (!hasFound || jumped.current === searchNumber) return;
    jumped.current = searchNumber;
    jump();
  }, [hasFound, searchNumber]);
  return {
    search,
    count,
    error: error ?? searchError,
    searchHit,
    ordinal: searchHit?.ordinal,
    setSearch,
    go: (isBackwards) => void goFrom(searchHit ?? top(), isBackwards),
  };
}
