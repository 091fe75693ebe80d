/** Types of columns that are text, numbers or JSON to the database. */
import type { DriftSchedule } from '#contract/schedules/shapes.ts';

export interface Columns {
  'schedule.action': 'deploy' | 'destroy' | 'driftDetection';
  'schedule.auto_drift_remediation': NonNullable<DriftSchedule['autoDriftRemediation']>;
}
