/**
 * Drift runs are at least an hour apart, and spread over the hour that follows their cron expression: a thousand
 * environments with the same expression do not start at the same moment. Pure.
 */
import { createHash } from 'node:crypto';
import { badField } from '../http/errors.ts';
import { checkedNextRun, nextRun, type Rhythm, utc } from './cron.ts';

const spreadSeconds = 3600;
const hourMilliseconds = 3_600_000;

/** How much later than its cron expression says an environment is checked: always the same for each. */
export function driftDelaySeconds(environmentId: string): number {
  return createHash('sha256').update(environmentId).digest().readUInt32BE() % spreadSeconds;
}

/** The first drift run after `from`; null where there is none. @throws Error for an invalid pattern */
export function nextDriftRun(rhythm: Rhythm, environmentId: string, from: Date): Date | null {
  const delay = driftDelaySeconds(environmentId) * 1000;
  const tick = nextRun(rhythm, new Date(from.getTime() - delay));
  return tick && new Date(tick.getTime() + delay);
}

/** @throws Refusal 400 that names the field: an invalid pattern, one that never comes, or several times an hour */
export function checkDriftCron(cron: string, now: Date, field: string): void {
  let last = checkedNextRun(cron, now, field);
  // The minutes are the same in each hour, so that a second one shows within three runs.
  for (let index = 0; index < 2; index++) {
    const next = nextRun({ cron, timeZone: utc }, last);
    if (!next) return;
    if (next.getTime() - last.getTime() < hourMilliseconds)
      throw badField(
        field,
        `"${cron}" names several times an hour: drift detection runs once an hour at most`,
      );
    last = next;
  }
}
