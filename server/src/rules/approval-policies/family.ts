/** Approval policies: records that are stored as templates, where they are assigned, and how they are evaluated. */
import type { Family } from '../../framework/family.ts';
import { homeOfType } from '../../rows/templates/template-store.ts';
import { policyAssignmentHome } from '../custom-flows/assignment-places.ts';
import { approvalPolicyRoutes } from './approval-policy-routes.ts';
import { verdictRoutes } from './verdict-routes.ts';

export const family: Family = {
  name: 'approval-policies',
  routes: [...approvalPolicyRoutes, ...verdictRoutes],
  entities: { approvalPolicy: homeOfType('approval-policy'), policyAssignment: policyAssignmentHome },
  tables: ['policy_verdict'],
};
