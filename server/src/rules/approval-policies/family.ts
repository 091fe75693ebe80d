/** Approval policies: records that are stored as templates, where they are assigned, and how they are evaluated. */
import { operations } from '#contract/operations.ts';
import type { Family } from '../../framework/family.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { homeOfType } from '../../rows/templates/template-store.ts';
import { policyAssignmentHome } from '../custom-flows/assignment-places.ts';
import { approvalPolicyRoutes } from './approval-policy-routes.ts';
import { listVerdictsOf } from './list-verdicts.ts';

const defaultPage = 25;

const verdictRoutes: Route[] = [
  route(operations.listPolicyVerdicts, (context, { params, query }) =>
    listVerdictsOf(context, params.id, { limit: query.limit ?? defaultPage, offset: query.offset ?? 0 }),
  ),
];

export const family: Family = {
  name: 'approval-policies',
  routes: [...approvalPolicyRoutes, ...verdictRoutes],
  entities: { approvalPolicy: homeOfType('approval-policy'), policyAssignment: policyAssignmentHome },
  tables: ['policy_verdict'],
};
