/** The keys of the log. */
import { useHotkeys } from '@mantine/hooks';
import type { LogSearch } from './use-search.ts';
import type { View } from './use-view.ts';

export interface LogKeys {
  readonly view: View;
  readonly log: LogSearch;
  readonly onSearch: () => void;
  readonly onWrap: () => void;
  readonly onClear: () => void;
}

export function useLogKeys({ view, log, onSearch, onWrap, onClear }: LogKeys): void {
  useHotkeys([
    ['/', onSearch],
    ['n', () => log.go(false)],
    ['shift+n', () => log.go(true)],
    ['g', () => view.goTo({ to: 'start' })],
    ['shift+g', () => view.setFollowing(true)],
    ['f', () => view.setFollowing(!view.isFollowing)],
    ['w', onWrap],
    ['t', () => view.setTimes(!view.hasTimes)],
    ['Escape', onClear],
  ]);
}
