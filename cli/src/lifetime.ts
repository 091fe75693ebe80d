/** A lifetime as it is written on a command line. */
import type { CallInput } from '#contract/client/client.ts';
import { BadCall } from './exit-codes.ts';

export type Lifetime = NonNullable<CallInput<'updateEnvironmentTtl'>['body']>;

const hoursOf = { h: 1, d: 24, w: 168 } as const;

/**
 * @param flag that it was given by
 * @param text `12h`, `3d`, `2w`, a time as 2026-12-24T18:00:00Z, or `infinite`
 * @throws BadCall that says which forms there are
 */
export function lifetimeOf(flag: string, text: string): Lifetime {
  if (text === 'infinite') return { type: 'INFINITE' };
  const [, number, unit] = /^([1-9]\d{0,5})([hdw])$/.exec(text) ?? [];
  if (number !== undefined)
    return { type: 'HOURS', value: String(Number(number) * hoursOf[unit as keyof typeof hoursOf]) };
  const time = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time)) return { type: 'DATE', value: new Date(time).toISOString() };
  throw new BadCall(
    `${flag} must be hours, days or weeks as 12h, 3d or 2w, a time as 2026-12-24T18:00:00Z, or infinite, not "${text}".`,
  );
}
