/** Environments. */
import type { Family } from '../family.ts';
import { environmentRoutes } from './environment-routes.ts';
import { environmentHome, lockEnvironmentRow } from './environment-store.ts';

export const family: Family = {
  name: 'environments',
  routes: environmentRoutes,
  entities: { environment: environmentHome },
  locks: { environment: lockEnvironmentRow },
  tables: ['environment', 'environment_count'],
};
