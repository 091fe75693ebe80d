/** Lifetimes in the form of policies: `6-h`, `3-d`, `2-w`, `1-M`. Pure. */

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
export function ttlMilliseconds(ttl: string, from: Date): number {
  return ttlEnd(ttl, from).getTime() - from.getTime();
}

/** Whether ISO 8601 can no longer write a time in the form that all clients read. */
export function isBeyondDates(end: Date): boolean {
  return end.getUTCFullYear() > 9999;
}
