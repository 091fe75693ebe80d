/** Approval policies as they are evaluated: how they are read, compiled and asked, and what they said. */
import type { Family } from '../../framework/family.ts';
import { verdictRoutes } from './verdict-routes.ts';

export const family: Family = {
  name: 'approval-policies',
  routes: verdictRoutes,
  tables: ['policy_verdict'],
};
