/** Environments. */
import type { Family } from '../family.ts';
import { environmentRoutes } from './environment-routes.ts';
import { environmentHome } from './environment-store.ts';

export const family: Family = {
  name: 'environments',
  routes: environmentRoutes,
  entities: { environment: environmentHome },
  tables: ['environment', 'environment_count'],
};
