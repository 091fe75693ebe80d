/** The keys of a page, and those of its lists: `j` and `k` walk, `x` selects, Enter or `o` opens. */
import { type HotkeyItem, useHotkeys } from '@mantine/hooks';
import { useRouter } from '@tanstack/react-router';
import { useRef, useState } from 'react';

const openDialog = '[role="dialog"][aria-modal="true"]';

/**
 * Listens for keys that work on every page, while the component is there; in a field they are text. They rest while a
 * dialog is open: it has the keyboard, also where the focus is on its buttons.
 */
export function useGlobalKeys(keys: readonly HotkeyItem[]): void {
  useHotkeys(
    keys.map(([key, handle, options]) => [
      key,
      (event) => {
        if (document.querySelector(openDialog) === null) handle(event);
      },
      options,
    ]),
  );
}

/**
 * Listens for the keys of one page. They also rest while another page is loading: what is typed then is meant for that
 * page.
 */
export function usePageKeys(keys: readonly HotkeyItem[]): void {
  const router = useRouter();
  useGlobalKeys(
    keys.map(([key, handle, options]) => [
      key,
      (event) => {
        const { location, resolvedLocation } = router.state;
        if (resolvedLocation === undefined || resolvedLocation.pathname === location.pathname) handle(event);
      },
      options,
    ]),
  );
}

export interface RowKeys {
  readonly count: number;
  readonly open: (at: number) => void;
  readonly toggle?: ((at: number) => void) | undefined;
}

/** @returns what each row needs; rows get focus, so that it is visible where one is */
export function useRowKeys({ count, open, toggle }: RowKeys) {
  const [chosen, setCurrent] = useState(-1);
  const current = Math.min(chosen, count - 1);
  const rows = useRef<(HTMLElement | null)[]>([]);
  const go = (at: number) => {
    const next = Math.max(0, Math.min(count - 1, at));
    setCurrent(next);
    rows.current[next]?.focus();
  };
  const onCurrent = (action: ((at: number) => void) | undefined) => () => {
    if (current >= 0 && current < count) action?.(current);
  };
  usePageKeys([
    ['j', () => go(current + 1)],
    ['k', () => go(current - 1)],
    ['x', onCurrent(toggle)],
    ['o', onCurrent(open)],
  ]);
  return {
    rowProps: (at: number) => ({
      ref: (row: HTMLElement | null) => {
        rows.current[at] = row;
      },
      tabIndex: -1,
      onFocus: () => setCurrent(at),
      onKeyDown: (event: React.KeyboardEvent<HTMLElement>) => {
        if (event.key === 'Enter' && event.target === event.currentTarget) open(at);
      },
    }),
  };
}
