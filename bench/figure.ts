/** What a bench gives back. */
import { type Summary, summarize } from './statistics.ts';

export const units = ['ms', 'MB', '×', 'requests/s'] as const;
export type Unit = (typeof units)[number];

export interface Figure extends Summary {
  readonly name: string;
  readonly unit: Unit;
}

export interface BenchResult {
  readonly figures: readonly Figure[];
  /** What the figures were taken with: counts, times, what was left out. */
  readonly settings: Readonly<Record<string, string | number>>;
}

export interface BenchOptions {
  /** Shorter and rougher, to see whether it works. */
  readonly isQuick: boolean;
}

/** Measures one thing from an idle service to a result, and leaves nothing behind. */
export type Bench = (options: BenchOptions) => Promise<BenchResult>;

/** @throws Error for no values */
export function figure(name: string, unit: Unit, values: readonly number[]): Figure {
  return { name, unit, ...summarize(values) };
}
