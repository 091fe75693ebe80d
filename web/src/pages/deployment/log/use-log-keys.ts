/** The keys of the log. */
import { useRef } from 'react';
import { usePageKeys } from '../../../ui/page-keys.ts';
import type { LogSearch } from './use-search.ts';
import type { LogView } from './use-view.ts';

export interface LogKeys {
  readonly view: LogView;
  readonly log: LogSearch;
  readonly onWrap: () => void;
  readonly onClear: () => void;
}

/** After `g` another key may name a page. */
const sequenceMilliseconds = 1200;

/** The search has the key of all lists, `/`. */
export function useLogKeys({ view, log, onWrap, onClear }: LogKeys): void {
  const goneAt = useRef(Number.NEGATIVE_INFINITY);
  // When the keys were pressed: a busy page handles them later.
  const onTop = ({ timeStamp }: KeyboardEvent) => {
    goneAt.current = timeStamp;
    view.goTo({ to: 'start' });
  };
  const onTimes = ({ timeStamp }: KeyboardEvent) => {
    if (timeStamp - goneAt.current > sequenceMilliseconds) view.setTimes(!view.hasTimes);
  };
  usePageKeys([
    ['n', () => log.go(false)],
    ['shift+n', () => log.go(true)],
    ['g', onTop],
    ['shift+g', () => view.setFollowing(true)],
    ['f', () => view.setFollowing(!view.isFollowing)],
    ['w', onWrap],
    ['t', onTimes],
    ['Escape', onClear],
  ]);
}
