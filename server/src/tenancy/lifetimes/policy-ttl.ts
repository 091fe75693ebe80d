/** Lifetimes in the form of policies: `6-h`, `3-d`, `2-w`, `1-M`. Pure. */
import { badField } from '../../ground/errors.ts';

const hourMilliseconds = 3_600_000;
const hoursOf = { h: 1, d: 24, w: 24 * 7 } as const;

/** A month later is the same day, or the last one of a shorter month. */
function addMonths(from: Date, months: number): Date {
  const end = new Date(from);
  end.setUTCDate(1);
  end.setUTCMonth(end.getUTCMonth() + months);
  const lastDay = new Date(Date.UTC(end.getUTCFullYear(), end.getUTCMonth() + 1, 0)).getUTCDate();
  end.setUTCDate(Math.min(from.getUTCDate(), lastDay));
  return end;
}

/**
 * @param ttl as a policy has it
 * @param from when the lifetime starts
 * @throws Error for a text that no policy can have
 */
export function ttlEnd(ttl: string, from: Date): Date {
  const [, count = '', unit = ''] = /^(\d+)-([hdwM])$/.exec(ttl) ?? [];
  if (unit === '') throw new Error(`"${ttl}" is not a TTL`);
  if (unit === 'M') return addMonths(from, Number(count));
  return new Date(from.getTime() + Number(count) * hoursOf[unit as keyof typeof hoursOf] * hourMilliseconds);
}

/** The length of a lifetime that starts now. */
function ttlMilliseconds(ttl: string, from: Date): number {
  return ttlEnd(ttl, from).getTime() - from.getTime();
}

/** Whether ISO 8601 can no longer write a time in the form that all clients read. */
export function isBeyondDates(end: Date): boolean {
  return end.getUTCFullYear() > 9999;
}

/**
 * The lifetimes of a policy must fit together. null: infinite.
 * @throws Refusal 400 that names the field: too long for a date, or a default that is longer than the maximum
 */
export function checkTtls(maxTtl: string | null, defaultTtl: string | null, now: Date): void {
  for (const [field, ttl] of Object.entries({ maxTtl, defaultTtl }))
    if (ttl !== null && isBeyondDates(new Date(now.getTime() + 2 * ttlMilliseconds(ttl, now))))
      throw badField(`body.${field}`, `${ttl} is too long: send null for an unlimited lifetime`);
  if (maxTtl === null || defaultTtl === null) return;
  if (ttlMilliseconds(defaultTtl, now) > ttlMilliseconds(maxTtl, now))
    throw badField('body.defaultTtl', `${defaultTtl} is longer than maxTtl ${maxTtl}`);
}
