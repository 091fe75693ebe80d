/** Schedules of environments, and everything that happens at a time. */
import type { Family } from '../family.ts';
import { fireTimers, timersEverySeconds } from './fire-timers.ts';
import { scheduleRoutes } from './schedule-routes.ts';

export const family: Family = {
  name: 'schedules',
  routes: scheduleRoutes,
  loops: [{ name: 'lifetimes and schedules', everySeconds: timersEverySeconds, pass: fireTimers }],
  tables: ['schedule'],
};
