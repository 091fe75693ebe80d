/** Environments. */
import type { Family } from '../../framework/family.ts';
import { environmentHome, lockEnvironmentRow } from '../../rows/environments/environment-store.ts';
import { environmentRoutes } from './environment-routes.ts';
import { followPolicy } from './follow-policy.ts';

export const family: Family = {
  name: 'environments',
  routes: environmentRoutes,
  entities: { environment: environmentHome },
  reactions: { policyChanging: [followPolicy] },
  locks: { environment: lockEnvironmentRow },
  tables: ['environment', 'environment_count'],
};
