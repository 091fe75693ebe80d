/** Templates: which code environments are made from. */
import type { Family } from '../family.ts';
import { templateRoutes } from './template-routes.ts';
import { lockTemplate, templateHome } from './template-store.ts';

export const family: Family = {
  name: 'templates',
  routes: templateRoutes,
  entities: { template: templateHome },
  locks: { template: lockTemplate },
  tables: ['template'],
};
