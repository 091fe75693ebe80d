/** For how long a new key is accepted. */

const day = 86_400_000;

/** By the value of the field. */
export const keySpans = {
  never: { label: 'Never', milliseconds: null },
  week: { label: 'In 7 days', milliseconds: 7 * day },
  month: { label: 'In 30 days', milliseconds: 30 * day },
  quarter: { label: 'In 90 days', milliseconds: 90 * day },
  year: { label: 'In a year', milliseconds: 365 * day },
} as const satisfies Readonly<Record<string, { label: string; milliseconds: number | null }>>;
export type KeySpan = keyof typeof keySpans;

/** When a key ends that is made now; null: never. @param now in milliseconds since 1970 */
export function expiryOf(span: KeySpan, now: number): string | null {
  const { milliseconds } = keySpans[span];
  return milliseconds === null ? null : new Date(now + milliseconds).toISOString();
}
