/** Operations on schedules, each with its verb. */
import { operations } from '#contract/operations.ts';
import type { Context } from '../context.ts';
import { notFound } from '../http/errors.ts';
import { type Route, route } from '../http/route.ts';
import { type EnvironmentRow, getEnvironmentRow } from './environment-store.ts';
import { getSchedule, listSchedules } from './schedule-store.ts';
import { driftScheduleView, scheduleView } from './schedule-view.ts';
import { updateDriftSchedule, updateEnvironmentSchedule } from './update-schedule.ts';

async function found(context: Context, id: string): Promise<EnvironmentRow> {
  const row = await getEnvironmentRow(context.db, id);
  if (!row) throw notFound('environment', id);
  return row;
}

/** Environments of a project that are deployed or destroyed by a schedule, newest first. */
async function scheduledOf(context: Context, projectId: string): Promise<EnvironmentRow[]> {
  return context.db
    .selectFrom('environment')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', 'in', (eb) => eb.selectFrom('schedule').select('environment_id').where('action', '<>', 'driftDetection'))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
}

export const scheduleRoutes: Route[] = [
  route(operations.getEnvironmentSchedule, async (context, { params }) => {
    const row = await found(context, params.id);
    return scheduleView(await listSchedules(context.db, [row.id]), row);
  }),
  route(operations.updateEnvironmentSchedule, (context, { params, body }) => updateEnvironmentSchedule(context, params.id, body)),
  route(operations.listProjectSchedules, async (context, { params }) => {
    const environments = await scheduledOf(context, params.id);
    const rows = await listSchedules(
      context.db,
      environments.map(({ id }) => id),
    );
    return environments.map((environment) => scheduleView(rows, environment));
  }),
  route(operations.getDriftSchedule, async (context, { params }) => {
    const row = await found(context, params.id);
    return driftScheduleView(await getSchedule(context.db, row.id, 'driftDetection'), row);
  }),
  route(operations.updateDriftSchedule, (context, { params, body }) => updateDriftSchedule(context, params.id, body)),
];
