/** Templates: which code environments are made from. */
import type { Family } from '../../framework/family.ts';
import { lockTemplate, templateHome } from '../../rows/templates/template-store.ts';
import { templateRoutes } from './template-routes.ts';

export const family: Family = {
  name: 'templates',
  routes: templateRoutes,
  entities: { template: templateHome },
  locks: { template: lockTemplate },
  tables: ['template'],
};
