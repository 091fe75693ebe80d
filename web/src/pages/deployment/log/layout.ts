/** Layout of the log: the head of each step and, if it is open, its lines in blocks. */
import { blockLines } from './store/step-log.ts';

export const rowHeight = 20;
export const headHeight = 38;
/**
 * Browsers place nothing exactly that is further down than some thirty million pixels: of longer logs a part is
 * shown, and the rest on demand.
 */
const mostLines = 1_400_000;

/** Available lines of a step's log, and the part that is wanted. */
export interface SizedStep {
  readonly name: string;
  readonly lines: number;
  readonly isFolded: boolean;
  /** The line with which the part begins, from 0 on, if not all fit. */
  readonly start?: number | undefined;
}

export interface LaidOutStep {
  readonly name: string;
  /** Number of lines in its log. */
  readonly lines: number;
  readonly isFolded: boolean;
  /** The first line that is shown, from 0 on: where a block begins. */
  readonly first: number;
  /** Number of lines that are shown. */
  readonly shown: number;
}

export type LogBlockItem =
  | { readonly kind: 'head'; readonly step: number }
  | { readonly kind: 'block'; readonly step: number; readonly block: number; readonly lines: number };

export interface LogLayout {
  readonly steps: readonly LaidOutStep[];
  /** Number of items. */
  readonly count: number;
  /** The item of each step's head, in their order. */
  readonly heads: readonly number[];
  itemAt(index: number): LogBlockItem;
  /** The item in which a line is, from 0 on; undefined: it is not shown. */
  indexOf(step: string, line: number): number | undefined;
  /** Start of the part that shows a line; undefined: the line is shown or does not exist. */
  startFor(step: string, line: number): number | undefined;
}

/** Maximum number of lines of one step that are shown, so that all together are not too many. */
function mostOfStep(steps: readonly SizedStep[], most: number): number {
  let limit = most;
  let left = most;
  const lengths = steps.filter(({ isFolded }) => !isFolded).map(({ lines }) => lines);
  for (const [index, lines] of lengths.toSorted((a, b) => a - b).entries()) {
    limit = Math.max(blockLines, Math.floor(left / (lengths.length - index)));
    left -= Math.min(lines, limit);
  }
  return limit - (limit % blockLines);
}

function laidOut(step: SizedStep, limit: number): LaidOutStep {
  const { name, lines, isFolded, start = 0 } = step;
  if (lines <= limit) return { name, lines, isFolded, first: 0, shown: lines };
  const wanted = Math.max(0, Math.min(start, lines - limit));
  const first = Math.ceil(wanted / blockLines) * blockLines;
  return { name, lines, isFolded, first, shown: Math.min(limit, lines - first) };
}

const blocksOf = ({ shown, isFolded }: LaidOutStep) => (isFolded ? 0 : Math.ceil(shown / blockLines));

/** @param most how many lines are shown at most */
export function layoutOf(sized: readonly SizedStep[], most = mostLines): LogLayout {
  const limit = mostOfStep(sized, most);
  const steps = sized.map((step) => laidOut(step, limit));
  const heads: number[] = [];
  let count = 0;
  for (const step of steps) {
    heads.push(count);
    count += 1 + blocksOf(step);
  }
  const isShown = ({ first, shown, isFolded }: LaidOutStep, line: number) =>
    !isFolded && line >= first && line < first + shown;
  return {
    steps,
    count,
    heads,
    itemAt(index) {
      const step = heads.findLastIndex((head) => head <= index);
      const at = index - (heads[step] ?? 0) - 1;
      if (at < 0) return { kind: 'head', step };
      const { first, shown } = steps[step]!;
      const lines = Math.min(blockLines, shown - at * blockLines);
      return { kind: 'block', step, block: first / blockLines + at, lines };
    },
    indexOf(name, line) {
      const step = steps.findIndex((each) => each.name === name);
      const found = steps[step];
      if (!found || !isShown(found, line)) return undefined;
      return heads[step]! + 1 + Math.floor((line - found.first) / blockLines);
    },
    startFor(name, line) {
      const found = steps.find((each) => each.name === name);
      if (!found || found.isFolded || line < 0 || line >= found.lines || isShown(found, line))
        return undefined;
      return Math.max(0, Math.min(line - Math.floor(limit / 2), found.lines - limit));
    },
  };
}

/** Height of an item until it is measured. */
export function heightOf(item: LogBlockItem): number {
  return item.kind === 'head' ? headHeight : item.lines * rowHeight;
}
