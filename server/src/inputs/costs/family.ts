/** Budgets of projects, and the credentials that read their costs. */
import type { Family } from '../../framework/family.ts';
import { costRoutes } from './cost-routes.ts';

export const family: Family = {
  name: 'costs',
  routes: costRoutes,
  tables: ['budget', 'cost_credential_assignment'],
};
