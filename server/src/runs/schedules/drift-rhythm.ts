/**
 * Drift runs are at least an hour apart, and spread over the hour that follows their cron expression: a thousand
 * environments with the same expression do not start at the same moment. Pure.
 */
import { createHash } from 'node:crypto';
import { fieldsOf, nextRun, type Rhythm, utc } from './cron.ts';

const spreadSeconds = 3600;

/** Delay of an environment's check after the time of its cron expression: always the same for each. */
function driftDelaySeconds(environmentId: string): number {
  return createHash('sha256').update(environmentId).digest().readUInt32BE() % spreadSeconds;
}

/**
 * A pattern that names several minutes comes at the first of them. Its minutes are the same in each hour, so that runs
 * are an hour apart. @throws Error for an invalid pattern
 */
function hourly(cron: string): string {
  const [minutes, ...others] = fieldsOf(cron);
  const wholeHour = Date.UTC(2000, 0, 1);
  const first = nextRun({ cron: `${minutes} * * * *`, timeZone: utc }, new Date(wholeHour - 1));
  return [first?.getUTCMinutes(), ...others].join(' ');
}

/** The first drift run after `from`; null where there is none. @throws Error for an invalid pattern */
export function nextDriftRun({ cron, timeZone }: Rhythm, environmentId: string, from: Date): Date | null {
  const delay = driftDelaySeconds(environmentId) * 1000;
  const tick = nextRun({ cron: hourly(cron), timeZone }, new Date(from.getTime() - delay));
  return tick && new Date(tick.getTime() + delay);
}
