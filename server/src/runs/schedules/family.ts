/** Schedules of environments, and everything that happens at a time. */
import type { Family } from '../../framework/family.ts';
import { checkPolicyCron } from './check-policy-cron.ts';
import { fireTimers, nextTimerAt, timersEverySeconds } from './fire-timers.ts';
import { publishFailedDestroy } from './publish-failed-destroy.ts';
import { scheduleRoutes } from './schedule-routes.ts';

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
