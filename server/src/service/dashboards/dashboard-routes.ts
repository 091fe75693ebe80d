/** The operation on dashboards, with its verb. */
import { operations } from '#contract/operations.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { dashboard } from './dashboard.ts';

export const dashboardRoutes: Route[] = [
  route(operations.getDashboard, (context, { query }) =>
    dashboard(context, query.organizationId, query.queryName),
  ),
];
