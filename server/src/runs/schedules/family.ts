/** Schedules of environments, and everything that happens at a time. */
import { operations } from '#contract/operations.ts';
import type { EnvironmentSchedule } from '#contract/schedules/shapes.ts';
import type { Context } from '../../framework/context.ts';
import type { Family } from '../../framework/family.ts';
import { type Route, route } from '../../framework/http/route.ts';
import type { ChangingPolicy, ReactionPayloads } from '../../framework/reactions.ts';
import { orNotFound } from '../../ground/errors.ts';
import { type EnvironmentRow, getEnvironmentRow } from '../../rows/environments/environment-store.ts';
import { getSchedule, listSchedules, listSchedulesOfProject } from '../../rows/schedules/schedule-store.ts';
import { isFailedEnd } from '../../tenancy/lifetimes/retry-destroy.ts';
import { publishLifetime } from '../feeds/publish-lifetime.ts';
import { checkedNextRun } from './cron.ts';
import { fireTimers, nextTimerAt, timersEverySeconds } from './fire-timers.ts';
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

const scheduleRoutes: Route[] = [
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

/** Tells readers of an expired environment whose destroy did not succeed. Reaction to `deploymentMoved`. */
async function publishFailedDestroy(
  context: Context,
  { deployment, environment, from }: ReactionPayloads['deploymentMoved'],
): Promise<void> {
  if (from !== null && isFailedEnd(environment, deployment, deployment.status, context.now()))
    await publishLifetime(context, environment, 'autoDestroyFailed');
}

/**
 * A policy has a schedule for new environments, which must be one that can be stored.
 * @throws Refusal 400 that names the field
 */
function checkPolicyCron(context: Context, { after }: ChangingPolicy): void {
  const { driftDetectionCron: cron } = after;
  if (cron.trim() !== '') checkedNextRun(cron, context.now(), 'body.driftDetectionCron');
}

export const family: Family = {
  name: 'schedules',
  routes: scheduleRoutes,
  loops: [
    {
      name: 'lifetimes and schedules',
      everySeconds: timersEverySeconds,
      pass: fireTimers,
      nextAt: nextTimerAt,
    },
  ],
  reactions: { deploymentMoved: [publishFailedDestroy], policyChanging: [checkPolicyCron] },
  tables: ['schedule'],
};
