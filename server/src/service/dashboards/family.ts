/** Figures for dashboards. */
import { operations } from '#contract/operations.ts';
import type { Family } from '../../framework/family.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { dashboard } from './dashboard.ts';

const dashboardRoutes: Route[] = [
  route(operations.getDashboard, (context, { query }) =>
    dashboard(context, query.organizationId, query.queryName),
  ),
];

export const family: Family = { name: 'dashboards', routes: dashboardRoutes };
