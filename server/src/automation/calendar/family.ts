/** Scheduled events of environments, in one list. */
import { operations } from '#contract/operations.ts';
import type { Family } from '../../framework/family.ts';
import { route } from '../../framework/http/route.ts';
import { readCalendar } from './read-calendar.ts';

export const family: Family = {
  name: 'calendar',
  routes: [route(operations.getCalendar, (context, { query }) => readCalendar(context, query))],
};
