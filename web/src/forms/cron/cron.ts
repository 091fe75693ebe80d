/** Cron expressions of five fields by the clock of a time zone, as the service reads them: in words, and when they come next. Pure. */
import { Cron } from 'croner';

export interface CronReading {
  /** Why the service would refuse it; undefined: it would not. */
  readonly problem?: string;
  /** Meaning, if it can be expressed in a few words. */
  readonly words?: string;
  /** The next times. */
  readonly next: readonly Date[];
}

const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
/** Number of next times that are shown. */
const shownTimes = 3;
const dayNames = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];

function clock(minute: string, hour: string, timeZone: string): string | undefined {
  if (!/^\d{1,2}$/.test(minute) || !/^\d{1,2}$/.test(hour)) return undefined;
  return `${hour.padStart(2, '0')}:${minute.padStart(2, '0')} ${timeZone}`;
}

function dayName(field: string): string | undefined {
  const number = dayNames.indexOf(field.toUpperCase());
  return days[number === -1 ? (/^[0-7]$/.test(field) ? Number(field) : -1) : number];
}

/** `1-5`, `MON,WED`, `0` in words; undefined: it is anything else. */
function dayWords(field: string): string | undefined {
  const [first = '', last, ...rest] = field.split('-');
  if (last !== undefined) {
    const [from, to] = [dayName(first), dayName(last)];
    return rest.length === 0 && from && to ? `every day from ${from} to ${to}` : undefined;
  }
  const all = field.split(',').map(dayName);
  if (all.includes(undefined)) return undefined;
  return `every ${all.length === 1 ? all[0] : `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`}`;
}

function everyWords(minute: string, hour: string, timeZone: string): string | undefined {
  const [, minutes] = /^\*\/(\d+)$/.exec(minute) ?? [];
  if (hour === '*' && minute === '*') return 'every minute';
  if (hour === '*' && minutes !== undefined) return `every ${minutes} minutes`;
  if (hour === '*' && /^\d+$/.test(minute)) return `every hour at minute ${minute}`;
  const [, hours] = /^\*\/(\d+)$/.exec(hour) ?? [];
  if (hours !== undefined && /^\d+$/.test(minute))
    return `every ${hours} hours at minute ${minute}, by ${timeZone}`;
  return undefined;
}

/** Meaning of an expression, such as "every day at 06:00 UTC"; undefined: it takes more than a few words. */
export function cronWords(pattern: string, timeZone = 'UTC'): string | undefined {
  const [minute = '', hour = '', date = '', month = '', day = '', ...rest] = pattern.trim().split(/\s+/);
  if (rest.length > 0 || month !== '*') return undefined;
  const at = clock(minute, hour, timeZone);
  if (date === '*' && day === '*')
    return at === undefined ? everyWords(minute, hour, timeZone) : `every day at ${at}`;
  if (at === undefined) return undefined;
  if (date === '*') {
    const which = dayWords(day);
    return which === undefined ? undefined : `${which} at ${at}`;
  }
  return day === '*' && /^\d{1,2}$/.test(date) ? `on day ${date} of each month at ${at}` : undefined;
}

/**
 * @param pattern as typed
 * @param from after which the times are
 * @param timeZone whose clock it goes by
 */
export function readCron(pattern: string, from: Date, timeZone = 'UTC'): CronReading {
  const fields = pattern.trim().split(/\s+/).filter(Boolean);
  if (fields.length !== 5)
    return { problem: 'Five fields: minute, hour, day of month, month, day of week', next: [] };
  try {
    const next = new Cron(pattern, { paused: true, timezone: timeZone, mode: '5-part' }).nextRuns(
      shownTimes,
      from,
    );
    if (next.length === 0) return { problem: 'This time never comes', next };
    const words = cronWords(pattern, timeZone);
    return { next, ...(words === undefined ? {} : { words }) };
  } catch (error) {
    return { problem: (error as Error).message.replace(/^\w+: /, ''), next: [] };
  }
}
