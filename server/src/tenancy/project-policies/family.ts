/** Policies of projects. */
import type { Family } from '../../framework/family.ts';
import { policyRoutes } from './policy-routes.ts';

export const family: Family = {
  name: 'project-policies',
  routes: policyRoutes,
  tables: ['project_policy'],
};
