/** The resources of a plan; only those in sight are in the document, however many there are. */
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from 'react';
import { useListTop } from '../../../ui/list-top.ts';
import { usePageKeys } from '../../../ui/page-keys.ts';
import classes from './plan.module.css';
import { ResourceRow } from './ResourceRow.tsx';
import type { PlanRow } from './rows.ts';

/** Of at most so many, those that change are open from the beginning. */
const openAtMost = 30;

function isOpenAtFirst({ kind, change }: PlanRow, count: number): boolean {
  return count <= openAtMost && (kind === 'update' || kind === 'replace') && change.attributes.length <= 40;
}

/** Open rows: those that are open at first, except for those that the person has toggled. */
function useOpen(count: number, namedPath: string | undefined) {
  const [turned, setTurned] = useState<ReadonlyMap<string, boolean>>(new Map());
  const isOpenIn = useCallback(
    (state: ReadonlyMap<string, boolean>, row: PlanRow) =>
      state.get(row.key) ?? (row.change.path === namedPath || isOpenAtFirst(row, count)),
    [count, namedPath],
  );
  const turn = useCallback(
    (row: PlanRow) =>
      setTurned((before) => {
        const after = new Map(before).set(row.key, !isOpenIn(before, row));
        // The address will name another one: this one stays open.
        if (namedPath !== undefined && !after.has(namedPath)) after.set(namedPath, true);
        return after;
      }),
    [isOpenIn, namedPath],
  );
  return { isOpen: (row: PlanRow) => isOpenIn(turned, row), turn };
}

export interface ResourceListProps {
  readonly label: string;
  /** All of the plan. */
  readonly all: readonly PlanRow[];
  /** Those that are shown. */
  readonly rows: readonly PlanRow[];
  /** The address that the page was opened with. */
  readonly namedPath: string | undefined;
  readonly onName: (row: PlanRow) => void;
}

/** Height of a closed row on a wide screen: a row of this height need not be placed again. */
function heightOf({ change: { actionReason } }: PlanRow): number {
  return actionReason === undefined ? 41 : 66;
}

/** The rows in sight, with a way to scroll to one; the one that the address names is scrolled to first. */
function useSight(
  list: RefObject<HTMLElement | null>,
  rows: readonly PlanRow[],
  namedPath: string | undefined,
) {
  const top = useListTop(list);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: (at) => heightOf(rows[at]!),
    overscan: 5,
    useFlushSync: false,
    scrollMargin: top,
    scrollPaddingStart: 60,
    getItemKey: (at) => rows[at]!.key,
  });
  const shown = useRef<string>(undefined);
  const at = namedPath === undefined ? -1 : rows.findIndex(({ change }) => change.path === namedPath);
  useLayoutEffect(() => {
    if (at < 0 || top === 0 || shown.current === namedPath) return;
    shown.current = namedPath;
    virtual.scrollToIndex(at, { align: 'start' });
  }, [at, top, namedPath, virtual]);
  return {
    items: virtual.getVirtualItems().map(({ index, key, start }) => ({ index, key, y: start - top })),
    height: virtual.getTotalSize(),
    measure: virtual.measureElement,
    scrollTo: (index: number) => virtual.scrollToIndex(index, { align: 'auto' }),
  };
}

/** The row that keys walk to. */
function useWalk(
  rows: readonly PlanRow[],
  namedPath: string | undefined,
  scrollTo: (at: number) => void,
  turn: (row: PlanRow) => void,
) {
  const [key, setKey] = useState(namedPath);
  const current = key === undefined ? -1 : rows.findIndex((row) => row.key === key);
  const go = (at: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, at));
    const row = rows[next];
    if (row === undefined) return;
    setKey(row.key);
    scrollTo(next);
  };
  usePageKeys([
    ['j', () => go(current + 1)],
    ['k', () => go(current - 1)],
    ['o', () => rows[current] && turn(rows[current])],
  ]);
  return { current, setKey };
}

export function ResourceList({ label, all, rows, namedPath, onName }: ResourceListProps) {
  const list = useRef<HTMLDivElement>(null);
  const { isOpen, turn } = useOpen(all.length, namedPath);
  const { items, height, measure, scrollTo } = useSight(list, rows, namedPath);
  const { current, setKey } = useWalk(rows, namedPath, scrollTo, turn);
  const toggle = useCallback(
    (row: PlanRow) => {
      turn(row);
      setKey(row.key);
      onName(row);
    },
    [turn, setKey, onName],
  );
  return (
    <div ref={list} role="list" aria-label={label} className={classes.rows} style={{ height }}>
      {items.map(({ index, key, y }) => {
        const row = rows[index]!;
        return (
          <div
            key={key}
            role="listitem"
            aria-setsize={rows.length}
            aria-posinset={index + 1}
            ref={measure}
            data-index={index}
            className={classes.item}
            style={{ transform: `translateY(${y}px)` }}
          >
            <ResourceRow row={row} isOpen={isOpen(row)} isCurrent={index === current} onToggle={toggle} />
          </div>
        );
      })}
    </div>
  );
}
