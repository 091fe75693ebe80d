/** Cron patterns of five fields, by the clock of a time zone. Pure. */
import { Cron, CronDate } from 'croner';
import { badField } from '../../ground/errors.ts';

export const utc = 'UTC';

/** When something is repeated. */
export interface Rhythm {
  readonly cron: string;
  /** A name of the IANA database. */
  readonly timeZone: string;
}

/** The fields of a pattern, from the minute on. */
export const fieldsOf = (pattern: string): string[] => pattern.trim().split(/\s+/);

function parse(pattern: string, timeZone: string): Cron {
  if (fieldsOf(pattern).length !== 5)
    throw new Error('it needs five fields: minute, hour, day of month, month, day of week');
  return new Cron(pattern, { paused: true, timezone: timeZone, mode: '5-part' });
}

/** Farther than any clock is moved. */
const shiftMilliseconds = 3 * 3_600_000;

/** Local time of a time zone, as if it were UTC. */
function shownAt(instant: Date, timeZone: string): Date {
  const { year, month, day, hour, minute, second } = new CronDate(instant, timeZone);
  return new Date(Date.UTC(year, month, day, hour, minute, second));
}

/** The first time that the clock shows this; for a time that it skips, as much later as it is moved on. */
function instantOf(shown: Date, timeZone: string): Date {
  return new CronDate(shown.toISOString().slice(0, 19), timeZone).getDate(false);
}

/**
 * The library runs `0 2,3 * * *` twice at two o'clock when that hour is repeated, and leaves out `0,30 2 * * *`
 * when it is skipped: here each time that the clock should show comes once.
 */
function nextShown({ cron, timeZone }: Rhythm, from: Date): Date | null {
  const clock = parse(cron, utc);
  let best: Date | null = null;
  const start = new Date(shownAt(from, timeZone).getTime() - shiftMilliseconds);
  for (let tick = clock.nextRun(start); tick; tick = clock.nextRun(tick)) {
    if (best && tick >= shownAt(best, timeZone)) return best;
    const instant = instantOf(tick, timeZone);
    if (instant > from && (!best || instant < best)) best = instant;
  }
  return best;
}

/** Parts of a pattern that match every hour; steps such as every second one refer to hours of the clock. */
const everyHour: readonly string[] = ['*', '*/1', '?'];

/**
 * A pattern that names its hours goes by the clock: a time that the clock skips comes when it has been moved on,
 * and one that it shows twice comes once. One of every hour (`*`) goes by the time that passes.
 * @returns the first time after `from`; null where there is none
 * @throws Error for an invalid pattern
 */
export function nextRun({ cron, timeZone }: Rhythm, from: Date): Date | null {
  const pattern = parse(cron, timeZone);
  const isEveryHour = everyHour.includes(fieldsOf(cron)[1] ?? '');
  return timeZone === utc || isEveryHour
    ? (pattern.nextRun(from) ?? null)
    : nextShown({ cron, timeZone }, from);
}

/**
 * @param field location of the pattern in the request
 * @returns the first time after `now`
 * @throws Refusal 400 that names the field: no pattern of five fields, or one that never comes
 */
export function checkedNextRun(cron: string, now: Date, field: string, timeZone: string = utc): Date {
  let next: Date | null;
  try {
    next = nextRun({ cron, timeZone }, now);
  } catch (error) {
    throw badField(field, `is not a valid cron expression: ${(error as Error).message}`);
  }
  if (next === null) throw badField(field, `"${cron}" names a time that never comes`);
  return next;
}

/** @returns the name as the database of time zones writes it @throws Refusal 400 for an unknown time zone */
export function checkedTimeZone(timeZone: string | undefined, field: string): string {
  if (timeZone === undefined) return utc;
  // An offset moves with no daylight-saving time, and looks as if it did.
  const isName = /^[A-Za-z]/.test(timeZone);
  try {
    if (isName) return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone;
  } catch {
    // The error below says it in our words.
  }
  throw badField(field, `"${timeZone}" does not name a time zone: send one such as Europe/Berlin or UTC`);
}

/** Whether two patterns are written the same but for blanks and case, in the same time zone. */
export function isSameRhythm(one: Rhythm, other: Rhythm): boolean {
  const plain = ({ cron, timeZone }: Rhythm) => `${fieldsOf(cron).join(' ').toUpperCase()} ${timeZone}`;
  return plain(one) === plain(other);
}
