/** The tree of folders with counts that filter it; only the rows in sight are in the document. */
import { UnstyledButton } from '@mantine/core';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useMemo, useRef, useState } from 'react';
import { type StatusLook, StatusShape } from '../../../design/status.tsx';
import { useListTop } from '../../../ui/list-top.ts';
import { usePageKeys } from '../../../ui/page-keys.ts';
import { SearchBox } from '../../../ui/SearchBox.tsx';
import classes from './discovery.module.css';
import { type FolderEntry, FolderRow } from './FolderRow.tsx';
import { type FolderNode, folderTree, shownNodes } from './folder-tree.ts';

export interface FolderFilter {
  /** Undefined: all. */
  readonly state?: string | undefined;
  readonly find?: string | undefined;
}

type Looks = Readonly<Record<string, StatusLook>>;

export interface FolderTreeProps {
  readonly label: string;
  /** By state, in the order of the counts. */
  readonly looks: Looks;
  /** Sorted by their path. */
  readonly entries: readonly FolderEntry[];
  readonly filter: FolderFilter;
  readonly onFilter: (filter: FolderFilter) => void;
}

function Counters({ entries, looks, filter, onFilter }: Omit<FolderTreeProps, 'label'>) {
  const counts = useMemo(() => Object.groupBy(entries, ({ state }) => state), [entries]);
  const choose = (state: string | undefined) => onFilter({ ...filter, state });
  return (
    <div className={classes.counters} role="group" aria-label="Show only">
      <UnstyledButton
        className={classes.counter}
        aria-pressed={filter.state === undefined}
        onClick={() => choose(undefined)}
      >
        <b>{entries.length.toLocaleString('en')}</b> All
      </UnstyledButton>
      {Object.entries(looks).map(([state, look]) => {
        const count = counts[state]?.length ?? 0;
        if (count === 0 && filter.state !== state) return null;
        return (
          <UnstyledButton
            key={state}
            className={classes.counter}
            aria-pressed={filter.state === state}
            onClick={() => choose(filter.state === state ? undefined : state)}
          >
            <StatusShape look={look} />
            <b>{count.toLocaleString('en')}</b> {look.word}
          </UnstyledButton>
        );
      })}
    </div>
  );
}

function isFound({ folder, environmentName = '', reason = '' }: FolderEntry, find: string): boolean {
  return [folder, environmentName, reason].some((text) => text.toLowerCase().includes(find));
}

/** Of a row on a wide screen: one of this height need not be placed again. */
function heightOf({ entry }: FolderNode<FolderEntry>): number {
  if (entry?.decision !== undefined) return 100;
  return entry?.reason === undefined ? 37 : 60;
}

/** The row that keys walk to: `j`, `k`, and `o` opens or closes it. */
function useWalk(
  nodes: readonly FolderNode<FolderEntry>[],
  scrollTo: (at: number) => void,
  toggle: (path: string) => void,
): number {
  const [path, setPath] = useState<string>();
  const current = path === undefined ? -1 : nodes.findIndex((node) => node.path === path);
  const go = (at: number) => {
    const next = Math.max(0, Math.min(nodes.length - 1, at));
    if (nodes[next] === undefined) return;
    setPath(nodes[next].path);
    scrollTo(next);
  };
  usePageKeys([
    ['j', () => go(current + 1)],
    ['k', () => go(current - 1)],
    ['o', () => nodes[current] && toggle(nodes[current].path)],
  ]);
  return current;
}

interface RowsProps {
  readonly label: string;
  readonly looks: Looks;
  readonly nodes: readonly FolderNode<FolderEntry>[];
  readonly closed: ReadonlySet<string>;
  readonly toggle: (path: string) => void;
}

function Rows({ label, looks, nodes, closed, toggle }: RowsProps) {
  const list = useRef<HTMLDivElement>(null);
  const top = useListTop(list);
  const virtual = useWindowVirtualizer({
    count: nodes.length,
    estimateSize: (at) => heightOf(nodes[at]!),
    overscan: 8,
    useFlushSync: false,
    scrollMargin: top,
    scrollPaddingStart: 60,
    getItemKey: (at) => nodes[at]!.path,
  });
  const current = useWalk(nodes, (at) => virtual.scrollToIndex(at, { align: 'auto' }), toggle);
  return (
    <div
      ref={list}
      role="list"
      aria-label={label}
      className={classes.rows}
      style={{ height: virtual.getTotalSize() }}
    >
      {virtual.getVirtualItems().map(({ index, key, start }) => {
        const node = nodes[index]!;
        return (
          <div
            key={key}
            role="listitem"
            aria-level={node.depth + 1}
            aria-setsize={nodes.length}
            aria-posinset={index + 1}
            ref={virtual.measureElement}
            data-index={index}
            className={classes.item}
            style={{ transform: `translateY(${start - top}px)` }}
          >
            <FolderRow
              node={node}
              look={node.entry && looks[node.entry.state]}
              isOpen={!closed.has(node.path)}
              isCurrent={index === current}
              onToggle={toggle}
            />
          </div>
        );
      })}
    </div>
  );
}

export function FolderTree({ label, looks, entries, filter, onFilter }: FolderTreeProps) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const toggle = useCallback(
    (path: string) =>
      setClosed((before) => {
        const after = new Set(before);
        if (!after.delete(path)) after.add(path);
        return after;
      }),
    [],
  );
  const { state, find } = filter;
  const nodes = useMemo(() => {
    const wanted = find?.toLowerCase() ?? '';
    return folderTree(
      entries.filter((entry) => (state === undefined || entry.state === state) && isFound(entry, wanted)),
    );
  }, [entries, state, find]);
  const shown = useMemo(() => shownNodes(nodes, closed), [nodes, closed]);
  return (
    <>
      <div className={classes.filters}>
        <Counters {...{ entries, looks, filter, onFilter }} />
        <SearchBox
          label="Find a folder"
          value={find}
          onSearch={(text) => onFilter({ ...filter, find: text })}
        />
      </div>
      {shown.length === 0 ? (
        <p className={classes.nothing}>No folder matches.</p>
      ) : (
        <Rows {...{ label, looks, closed, toggle }} nodes={shown} />
      )}
    </>
  );
}
