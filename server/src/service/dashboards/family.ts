/** Figures for dashboards. */
import type { Family } from '../../framework/family.ts';
import { dashboardRoutes } from './dashboard-routes.ts';

export const family: Family = { name: 'dashboards', routes: dashboardRoutes };
