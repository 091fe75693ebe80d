/** Lifetimes on the command line. */
import type { CallInput } from '#contract/client/client.ts';
import { BadCall } from '../session/exit-codes.ts';
import { instantOf } from './instant.ts';

export type LifetimeBody = NonNullable<CallInput<'updateEnvironmentTtl'>['body']>;

const hoursOf = { h: 1, d: 24, w: 168 } as const;

/**
 * @param flag for the message of an error
 * @param text `12h`, `3d`, `2w`, a time such as 2026-12-24T18:00:00Z, or `infinite`
 * @throws BadCall that lists the accepted forms
 */
export function lifetimeOf(flag: string, text: string): LifetimeBody {
  if (text === 'infinite') return { type: 'INFINITE' };
  const [, number, unit] = /^([1-9]\d{0,5})([hdw])$/.exec(text) ?? [];
  if (number !== undefined)
    return { type: 'HOURS', value: String(Number(number) * hoursOf[unit as keyof typeof hoursOf]) };
  const value = instantOf(text);
  if (value !== null) return { type: 'DATE', value };
  throw new BadCall(
    `${flag} must be hours, days or weeks such as 12h, 3d or 2w, a time such as 2026-12-24T18:00:00Z, or infinite, not "${text}".`,
  );
}
