/** Operations on schedules, each with its verb. */
import { operations } from '#contract/operations.ts';
import type { EnvironmentSchedule } from '#contract/schedules/shapes.ts';
import type { Context } from '../../framework/context.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { orNotFound } from '../../ground/errors.ts';
import { type EnvironmentRow, getEnvironmentRow } from '../../rows/environments/environment-store.ts';
import { getSchedule, listSchedules, listSchedulesOfProject } from '../../rows/schedules/schedule-store.ts';
import { driftScheduleView, scheduleView } from './schedule-view.ts';
import { updateDriftSchedule, updateEnvironmentSchedule } from './update-schedule.ts';

async function found(context: Context, id: string): Promise<EnvironmentRow> {
  return orNotFound(await getEnvironmentRow(context.db, id), 'environment', id);
}

/** Environments of a project that are deployed or destroyed by a schedule, newest first. */
async function projectSchedules(context: Context, projectId: string): Promise<EnvironmentSchedule[]> {
  const rows = await listSchedulesOfProject(context.db, projectId);
  const byEnvironment = Map.groupBy(rows, (row) => row.environment_id);
  return [...byEnvironment].map(([id, own]) => scheduleView(own, { ...own[0]!, id }));
}

export const scheduleRoutes: Route[] = [
  route(operations.getEnvironmentSchedule, async (context, { params }) => {
    const row = await found(context, params.id);
    return scheduleView(await listSchedules(context.db, [row.id]), row);
  }),
  route(operations.updateEnvironmentSchedule, (context, { params, body }) =>
    updateEnvironmentSchedule(context, params.id, body),
  ),
  route(operations.listProjectSchedules, (context, { params }) => projectSchedules(context, params.id)),
  route(operations.getDriftSchedule, async (context, { params }) => {
    const row = await found(context, params.id);
    return driftScheduleView(await getSchedule(context.db, row.id, 'driftDetection'), row);
  }),
  route(operations.updateDriftSchedule, (context, { params, body }) =>
    updateDriftSchedule(context, params.id, body),
  ),
];
