/** Environments. */
import type { Family } from '../family.ts';
import { environmentRoutes, organizationStreamRoutes } from './environment-routes.ts';
import { environmentHome } from './environment-store.ts';

export const family: Family = {
  name: 'environments',
  routes: [...environmentRoutes, ...organizationStreamRoutes],
  entities: { environment: environmentHome },
  tables: ['environment'],
};
