/** Statistics of a series of measurements. */
export interface Summary {
  readonly count: number;
  readonly median: number;
  readonly minimum: number;
  readonly maximum: number;
  readonly p99: number;
}

/**
 * The smallest value that at least this part of the values does not exceed.
 * @param part from 0 to 1
 * @throws Error for no values
 */
export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  const value = sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)];
  if (value === undefined) throw new Error('nothing was measured');
  return value;
}

/** The middle value; the mean of both where there are two. @throws Error for no values */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  if (upper === undefined || lower === undefined) throw new Error('nothing was measured');
  return (upper + lower) / 2;
}

/** @throws Error for no values */
export function summarize(values: readonly number[]): Summary {
  return {
    count: values.length,
    median: median(values),
    minimum: percentile(values, 0),
    maximum: percentile(values, 1),
    p99: percentile(values, 0.99),
  };
}
