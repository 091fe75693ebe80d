/** The end of an environment's lifetime, as people enter it, and what policies allow. Pure. */
import type { CallInput } from '#contract/client/client.ts';

export type Lifetime = CallInput<'updateEnvironmentTtl'>['body'];

export interface LifetimeValues {
  readonly kind: 'hours' | 'date' | 'infinite';
  readonly hours: string;
  /** As `<input type="datetime-local">` has it: in the zone of the reader. */
  readonly date: string;
}

/** @param end as the environment has it; null: it is unlimited */
export function lifetimeValues(end: string | null): LifetimeValues {
  return {
    kind: end === null ? 'infinite' : 'date',
    hours: '12',
    date: end === null ? '' : localText(new Date(end)),
  };
}

/** A time for `<input type="datetime-local">`. */
export function localText(time: Date): string {
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

const hoursOf = { h: 1, d: 24, w: 168 } as const;
const unitWords = { h: 'hour', d: 'day', w: 'week', M: 'month' } as const;

/** A lifetime of a policy in words, such as "2 weeks"; undefined: unlimited, or nothing that this page knows. */
export function policyWords(ttl: string | null | undefined): string | undefined {
  const [, count, unit] = /^(\d+)-([hdwM])$/.exec(ttl ?? '') ?? [];
  if (count === undefined) return undefined;
  return `${count} ${unitWords[unit as keyof typeof unitWords]}${count === '1' ? '' : 's'}`;
}

/**
 * When the longest lifetime ends; undefined: it has no end. A month later is the same day or, in a shorter month,
 * its last.
 */
export function latestEnd(maxTtl: string | null | undefined, createdAt: string): Date | undefined {
  const [, count = '', unit = ''] = /^(\d+)-([hdwM])$/.exec(maxTtl ?? '') ?? [];
  const from = new Date(createdAt);
  if (unit === '') return undefined;
  if (unit !== 'M')
    return new Date(from.getTime() + Number(count) * hoursOf[unit as keyof typeof hoursOf] * 3_600_000);
  const end = new Date(from);
  end.setUTCDate(1);
  end.setUTCMonth(end.getUTCMonth() + Number(count));
  const lastDay = new Date(Date.UTC(end.getUTCFullYear(), end.getUTCMonth() + 1, 0)).getUTCDate();
  end.setUTCDate(Math.min(from.getUTCDate(), lastDay));
  return end;
}

/** Problem of the entered values; undefined: none. @param now in milliseconds since 1970 */
export function lifetimeProblem({ kind, hours, date }: LifetimeValues, now: number): string | undefined {
  if (kind === 'hours') return /^[1-9]\d{0,5}$/.test(hours.trim()) ? undefined : 'A whole number of hours';
  if (kind === 'infinite') return undefined;
  const time = Date.parse(date);
  if (Number.isNaN(time)) return 'A date with a time';
  return time > now ? undefined : 'This time has passed';
}

/** Request. */
export function lifetimeBody({ kind, hours, date }: LifetimeValues): Lifetime {
  if (kind === 'infinite') return { type: 'INFINITE' };
  if (kind === 'hours') return { type: 'HOURS', value: hours.trim() };
  return { type: 'DATE', value: new Date(date).toISOString() };
}
