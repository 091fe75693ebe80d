/** Spans of time as people write them. */

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const;

/**
 * The two largest units, such as "2 h 5 min"; below ten seconds with a decimal, below one in milliseconds.
 * @param milliseconds not negative
 */
export function spanText(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 9950) return `${(milliseconds / 1000).toFixed(1).replace(/\.0$/, '')} s`;
  const rounded = Math.round(milliseconds / 1000) * 1000;
  const at = units.findIndex(([, size]) => rounded >= size);
  const [unit, size] = units[at]!;
  const first = Math.floor(rounded / size);
  const next = units[at + 1];
  const second = next === undefined ? 0 : Math.floor((rounded % size) / next[1]);
  return second === 0 ? `${first} ${unit}` : `${first} ${unit} ${second} ${next![0]}`;
}

/**
 * The same for people who look at a list: without seconds from one minute on, and without minutes from one day on.
 * @param milliseconds not negative
 */
export function coarseSpanText(milliseconds: number): string {
  if (milliseconds < 60_000) return `${Math.max(1, Math.floor(milliseconds / 1000))} s`;
  const smallest = milliseconds < 86_400_000 ? 60_000 : 3_600_000;
  return spanText(Math.floor(milliseconds / smallest) * smallest);
}
