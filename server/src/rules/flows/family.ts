/** Custom flows and approval policies: records that are stored as templates, and where they are assigned. */
import type { Family } from '../../framework/family.ts';
import { homeOfType, lockTemplate } from '../../rows/templates/template-store.ts';
import { approvalPolicyRoutes } from './approval-policy-routes.ts';
import { policyAssignmentHome } from './assignment-places.ts';
import { customFlowRoutes } from './custom-flow-routes.ts';

export const family: Family = {
  name: 'flows',
  routes: [...customFlowRoutes, ...approvalPolicyRoutes],
  entities: {
    customFlow: homeOfType('custom-flow'),
    approvalPolicy: homeOfType('approval-policy'),
    policyAssignment: policyAssignmentHome,
  },
  locks: { customFlow: lockTemplate },
  tables: ['flow_assignment'],
};
