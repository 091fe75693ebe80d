/** Custom flows: records that are stored as templates, and where they are assigned. */
import type { Family } from '../../framework/family.ts';
import { homeOfType, lockTemplate } from '../../rows/templates/template-store.ts';
import { customFlowRoutes } from './custom-flow-routes.ts';

export const family: Family = {
  name: 'custom-flows',
  routes: customFlowRoutes,
  entities: {
    customFlow: homeOfType('custom-flow'),
  },
  locks: { customFlow: lockTemplate },
  tables: ['flow_assignment'],
};
