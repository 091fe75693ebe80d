/** When an environment ends by itself. */
import type { Ttl } from '#contract/deploy-request.ts';
import { badField } from '../http/errors.ts';

/** Node reads many other texts as dates too. */
function isoDate(text: string): Date {
  return /^\d{4}-\d{2}-\d{2}(T[\d:.]+(Z|[+-]\d{2}:\d{2})?)?$/.test(text) ? new Date(text) : new Date(Number.NaN);
}

/**
 * @param now from when hours count
 * @returns the end, or null for an infinite life
 * @throws Refusal 400 for a value that does not fit the type, or that has passed
 */
export function lifespanEnd(ttl: Ttl | undefined, now: Date): Date | null {
  if (!ttl || ttl.type === 'INFINITE') return null;
  const end = ttl.type === 'HOURS' ? new Date(now.getTime() + Number(ttl.value ?? Number.NaN) * 3_600_000) : isoDate(ttl.value ?? '');
  if (Number.isNaN(end.getTime()))
    throw badField('body.ttl.value', ttl.type === 'HOURS' ? 'must be a number of hours' : 'must be a date in ISO 8601');
  if (end <= now) throw badField('body.ttl.value', 'has passed already');
  return end;
}
