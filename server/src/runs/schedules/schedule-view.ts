/** Schedules as the interface answers them. */
import type { DriftSchedule, EnvironmentSchedule, Schedule } from '#contract/schedules/shapes.ts';
import type { EnvironmentRow } from '../../rows/environments/environment-store.ts';
import type { ListedSchedule, ScheduledAction, ScheduleRow } from '../../rows/schedules/schedule-store.ts';

type ScheduledEnvironment = Pick<EnvironmentRow, 'id' | 'project_id' | 'organization_id' | 'is_archived'>;

/** An archived environment keeps its schedules, and none of them has a next date. */
function nextOf(row: ScheduleRow, home: ScheduledEnvironment): { nextSchedule?: string } {
  return row.next_run_at && !home.is_archived ? { nextSchedule: row.next_run_at.toISOString() } : {};
}

function view(row: ScheduleRow, home: ScheduledEnvironment): Schedule {
  return {
    id: row.id,
    cron: row.cron,
    timeZone: row.time_zone,
    enabled: row.is_enabled,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    createdBy: row.created_by,
    environmentId: home.id,
    projectId: home.project_id,
    organizationId: home.organization_id,
    ...nextOf(row, home),
  };
}

const of = (rows: readonly ScheduleRow[], home: ScheduledEnvironment, action: ScheduledAction) =>
  rows.find((row) => row.environment_id === home.id && row.action === action);

/** @param rows schedules, including those of other environments */
export function scheduleView(rows: readonly ScheduleRow[], home: ScheduledEnvironment): EnvironmentSchedule {
  const deploy = of(rows, home, 'deploy');
  const destroy = of(rows, home, 'destroy');
  return {
    ...(deploy ? { deploy: view(deploy, home) } : {}),
    ...(destroy ? { destroy: view(destroy, home) } : {}),
  };
}

export function driftScheduleView(row: ScheduleRow | undefined, home: ScheduledEnvironment): DriftSchedule {
  const place = { environmentId: home.id, projectId: home.project_id, organizationId: home.organization_id };
  if (!row) return { enabled: false, cron: '', ...place };
  const { auto_drift_remediation: autoDriftRemediation } = row;
  return { ...view(row, home), ...(autoDriftRemediation ? { autoDriftRemediation } : {}) };
}

/** When an environment is next deployed and destroyed by its schedules. */
export function nextDates(
  schedules: readonly ListedSchedule[],
  { is_archived: isArchived }: Pick<ScheduledEnvironment, 'is_archived'>,
): { deploy?: string; destroy?: string } {
  const next: { deploy?: string; destroy?: string } = {};
  for (const { action, next_run_at: at } of schedules)
    if (action !== 'driftDetection' && at && !isArchived) next[action] = new Date(at).toISOString();
  return next;
}
