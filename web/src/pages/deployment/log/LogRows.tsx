/** The lines of all steps below each other; only those in view exist as elements. */
import {
  defaultRangeExtractor,
  useVirtualizer,
  type VirtualItem,
  type Virtualizer,
} from '@tanstack/react-virtual';
import {
  type ReactNode,
  useCallback,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useMemo,
  useRef,
} from 'react';
import { headHeight, heightOf, type LogLayout, rowHeight } from './layout.ts';
import classes from './log.module.css';
import type { LogPosition } from './store/search.ts';
import { blockLines } from './store/step-log.ts';
import { type FollowProps, useFollow } from './use-follow.ts';

/** A place to scroll to; a new object scrolls again. `line` counts from 0 on. */
export type ScrollTarget =
  | { readonly to: 'start' }
  | { readonly to: 'line' | 'top'; readonly step: string; readonly line: number };

export interface LogRowsProps extends FollowProps {
  readonly label: string;
  readonly target: ScrollTarget | undefined;
  readonly isWrapped: boolean;
  /** Says which line is the first in view, from 0 on. */
  readonly onTop: (place: LogPosition) => void;
  readonly onClick: (event: React.MouseEvent) => void;
  readonly renderHead: (step: number) => ReactNode;
  readonly renderBlock: (step: number, block: number, lines: number) => ReactNode;
}

type LogVirtualizer = Virtualizer<HTMLDivElement, HTMLDivElement>;

const keysPerStep = 2 ** 27;
/** A measured place settles within a few frames after its lines are there. */
const settlingFrames = 30;

/** The head of the step at the top stays in view. */
function useStickyHeads(layout: LogLayout) {
  const sticky = useRef(0);
  const rangeExtractor = useCallback(
    (range: Parameters<typeof defaultRangeExtractor>[0]) => {
      sticky.current = layout.heads.findLast((head) => head <= range.startIndex) ?? 0;
      return [...new Set([sticky.current, ...defaultRangeExtractor(range)])].toSorted((a, b) => a - b);
    },
    [layout],
  );
  return { sticky, rangeExtractor };
}

/** Scrolls until the line has its place: where lines wrap, their heights become known on the way. */
function scrollToLine(virtualizer: LogVirtualizer, index: number, line: number, isTop: boolean): () => void {
  const scroller = virtualizer.scrollElement;
  const item = virtualizer.measurementsCache[index];
  if (!scroller || !item) return () => {};
  const within = (line % blockLines) * rowHeight;
  const above = isTop ? headHeight : (scroller.clientHeight - rowHeight) / 2;
  virtualizer.scrollToOffset(Math.max(0, item.start + within - above));
  scroller.scrollIntoView({ block: 'nearest' });
  let frames = 0;
  let frame = requestAnimationFrame(function settle() {
    const element = scroller.querySelector(`[data-index="${index}"] [data-line="${line + 1}"]`);
    if (element) {
      const [outer, inner] = [scroller.getBoundingClientRect(), element.getBoundingClientRect()];
      const difference = inner.top - outer.top - (isTop ? headHeight : (outer.height - inner.height) / 2);
      if (Math.abs(difference) > 1) scroller.scrollTop += difference;
    }
    if (++frames < settlingFrames) frame = requestAnimationFrame(settle);
  });
  return () => cancelAnimationFrame(frame);
}

function useTarget({ target, layout, onPart }: LogRowsProps, virtualizer: LogVirtualizer): void {
  const askForPart = useEffectEvent(onPart);
  const done = useRef<ScrollTarget>(undefined);
  const stop = useRef<() => void>(undefined);
  useEffect(() => {
    if (target === undefined || done.current === target) return;
    if (!('step' in target)) {
      done.current = target;
      stop.current?.();
      virtualizer.scrollToOffset(0);
      return;
    }
    const index = layout.indexOf(target.step, target.line);
    if (index === undefined) {
      const start = layout.startFor(target.step, target.line);
      if (start !== undefined) askForPart(target.step, start);
      return;
    }
    done.current = target;
    stop.current?.();
    stop.current = scrollToLine(virtualizer, index, target.line, target.to === 'top');
  }, [target, layout, virtualizer]);
}

function topOf(layout: LogLayout, virtualizer: LogVirtualizer): LogPosition | undefined {
  const offset = virtualizer.scrollOffset ?? 0;
  const item = virtualizer.getVirtualItemForOffset(offset);
  const at = item && layout.itemAt(item.index);
  if (!at) return undefined;
  const name = layout.steps[at.step]?.name ?? '';
  if (at.kind === 'head') return { step: name, line: 0 };
  const share = Math.max(0, (offset - item.start) / Math.max(1, item.size));
  return { step: name, line: at.block * blockLines + Math.min(at.lines - 1, Math.floor(share * at.lines)) };
}

interface LogItemProps extends LogRowsProps {
  readonly item: VirtualItem;
  readonly virtualizer: LogVirtualizer;
  readonly isSticky: boolean;
}

function LogItem({ item, virtualizer, isSticky, layout, isWrapped, renderHead, renderBlock }: LogItemProps) {
  const at = layout.itemAt(item.index);
  const style = isSticky ? {} : { top: item.start };
  return (
    <div
      className={at.kind === 'head' ? classes.headItem : classes.block}
      data-sticky={isSticky || undefined}
      data-index={item.index}
      ref={isWrapped && at.kind === 'block' ? virtualizer.measureElement : undefined}
      style={style}
    >
      {at.kind === 'head' ? renderHead(at.step) : renderBlock(at.step, at.block, at.lines)}
    </div>
  );
}

export function LogRows(props: LogRowsProps) {
  const { label, layout, isWrapped, onTop, onClick } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const { sticky, rangeExtractor } = useStickyHeads(layout);
  const keys = useMemo(
    () => (index: number) => {
      const item = layout.itemAt(index);
      return item.step * keysPerStep + (item.kind === 'head' ? 0 : item.block + 1);
    },
    [layout],
  );
  const virtualizer = useVirtualizer<HTMLDivElement, HTMLDivElement>({
    count: layout.count,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => heightOf(layout.itemAt(index)),
    getItemKey: keys,
    rangeExtractor,
    overscan: 1,
  });
  const size = virtualizer.getTotalSize();
  const onScroll = useFollow(props, scroller, size);
  useLayoutEffect(() => virtualizer.measure(), [isWrapped, virtualizer]);
  useTarget(props, virtualizer);
  const top = () => {
    const place = topOf(layout, virtualizer);
    if (place) onTop(place);
  };
  return (
    <div
      ref={scroller}
      className={classes.scroll}
      data-wrapped={isWrapped || undefined}
      role="log"
      aria-live="off"
      aria-label={label}
      tabIndex={0}
      onScroll={() => {
        onScroll();
        top();
      }}
      onClick={onClick}
    >
      <div className={classes.sizer} style={{ height: size }}>
        {virtualizer.getVirtualItems().map((item) => (
          <LogItem
            key={`${isWrapped} ${String(item.key)}`}
            {...props}
            item={item}
            virtualizer={virtualizer}
            isSticky={item.index === sticky.current}
          />
        ))}
      </div>
    </div>
  );
}
