/** Configuration sets: variables that many projects, templates and environments share. */
import type { Family } from '../../framework/family.ts';
import { setHome } from '../../rows/configuration-sets/configuration-set-store.ts';
import { assignmentScopeHome, creationScopeHome } from './assignment-places.ts';
import { lockSet } from './change-set.ts';
import { configurationSetRoutes } from './configuration-set-routes.ts';
import { refuseLeavingSets } from './leave-project.ts';

export const family: Family = {
  name: 'configuration-sets',
  routes: configurationSetRoutes,
  reactions: { projectMoving: [refuseLeavingSets] },
  entities: {
    configurationSet: setHome,
    assignmentScope: assignmentScopeHome,
    creationScope: creationScopeHome,
  },
  locks: { configurationSet: lockSet },
  tables: ['configuration_set', 'configuration_set_assignment'],
};
