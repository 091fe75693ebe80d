/** What is below each other in the log: the head of each step and, where it is open, its lines in blocks. */
import { blockLines } from './store/step-log.ts';

export const rowHeight = 20;
export const headHeight = 38;

export interface LaidOutStep {
  readonly name: string;
  readonly lines: number;
  readonly isFolded: boolean;
}

export type Item =
  | { readonly kind: 'head'; readonly step: number }
  | { readonly kind: 'block'; readonly step: number; readonly block: number; readonly lines: number };

export interface Layout {
  readonly steps: readonly LaidOutStep[];
  /** How many items there are. */
  readonly count: number;
  /** The item of each step's head, in their order. */
  readonly heads: readonly number[];
  itemAt(index: number): Item;
  /** The item in which a line is, from 0 on; undefined: it is not there. */
  indexOf(step: string, line: number): number | undefined;
}

const blocksOf = ({ lines, isFolded }: LaidOutStep) => (isFolded ? 0 : Math.ceil(lines / blockLines));

export function layoutOf(steps: readonly LaidOutStep[]): Layout {
  const heads: number[] = [];
  let count = 0;
  for (const step of steps) {
    heads.push(count);
    count += 1 + blocksOf(step);
  }
  return {
    steps,
    count,
    heads,
    itemAt(index) {
      const step = heads.findLastIndex((head) => head <= index);
      const block = index - (heads[step] ?? 0) - 1;
      if (block < 0) return { kind: 'head', step };
      const lines = Math.min(blockLines, steps[step]!.lines - block * blockLines);
      return { kind: 'block', step, block, lines };
    },
    indexOf(name, line) {
      const step = steps.findIndex((each) => each.name === name);
      const found = steps[step];
      if (!found || found.isFolded || line < 0 || line >= found.lines) return undefined;
      return heads[step]! + 1 + Math.floor(line / blockLines);
    },
  };
}

/** How high an item is while it was not measured. */
export function heightOf(item: Item): number {
  return item.kind === 'head' ? headHeight : item.lines * rowHeight;
}
