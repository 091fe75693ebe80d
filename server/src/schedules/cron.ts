/** Cron patterns of five fields, in UTC. Pure. */
import { Cron } from 'croner';
import { badField } from '../http/errors.ts';

function parse(pattern: string): Cron {
  if (pattern.trim().split(/\s+/).length !== 5)
    throw new Error('it needs five fields: minute, hour, day of month, month, day of week');
  return new Cron(pattern, { paused: true, timezone: 'UTC', mode: '5-part' });
}

/** The first time after `from`; null where there is none. @throws Error for an invalid pattern */
export function nextRun(pattern: string, from: Date): Date | null {
  return parse(pattern).nextRun(from) ?? null;
}

/**
 * @param field location of the pattern in the request
 * @returns the first time after `now`
 * @throws Refusal 400 that names the field: no pattern of five fields, or one that never comes
 */
export function checkedNextRun(pattern: string, now: Date, field: string): Date {
  let next: Date | null;
  try {
    next = nextRun(pattern, now);
  } catch (error) {
    throw badField(field, `is not a valid cron expression: ${(error as Error).message}`);
  }
  if (next === null) throw badField(field, `"${pattern}" names a time that never comes`);
  return next;
}

/** Whether two patterns are written the same but for blanks and case. */
export function isSamePattern(one: string, other: string): boolean {
  const plain = (pattern: string) => pattern.trim().split(/\s+/).join(' ').toUpperCase();
  return plain(one) === plain(other);
}
