/** When a schedule comes next. Pure. */

import type { ScheduleRow } from '../../rows/schedules/schedule-store.ts';
import { nextRun } from './cron.ts';
import { nextDriftRun } from './drift-rhythm.ts';

/** @returns the first time after `from`; null where there is none @throws Error for an invalid pattern */
export function nextRunOf(
  row: Pick<ScheduleRow, 'action' | 'cron' | 'time_zone' | 'environment_id'>,
  from: Date,
): Date | null {
  const rhythm = { cron: row.cron, timeZone: row.time_zone };
  return row.action === 'driftDetection'
    ? nextDriftRun(rhythm, row.environment_id, from)
    : nextRun(rhythm, from);
}
