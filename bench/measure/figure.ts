/** The result of a benchmark. */
import { type Summary, summarize } from './statistics.ts';

export const units = ['ms', 'MB', '×', 'requests/s', 'per second', 'bytes', 'points'] as const;
export type Unit = (typeof units)[number];

export interface Figure extends Summary {
  readonly name: string;
  readonly unit: Unit;
}

export interface BenchResult {
  readonly figures: readonly Figure[];
  /** The parameters of the measurement: counts, times, omissions. */
  readonly settings: Readonly<Record<string, string | number>>;
}

export interface BenchOptions {
  /** Shorter and rougher, to check that it works. */
  readonly isQuick: boolean;
}

/** Measures one thing, starting from an idle service, and cleans up afterwards. */
export type Bench = (options: BenchOptions) => Promise<BenchResult>;

/** @throws Error for no values */
export function figure(name: string, unit: Unit, values: readonly number[]): Figure {
  return { name, unit, ...summarize(values) };
}
