/** Budgets of projects, and the credentials that read their costs. */
import { operations } from '#contract/operations.ts';
import type { Family } from '../../framework/family.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { getBudgetRow } from '../../rows/costs/budget-store.ts';
import {
  assignCostCredential,
  listCostCredentials,
  unassignCostCredential,
} from './assign-cost-credential.ts';
import { budgetView, deleteBudget, requireBudget, setBudget } from './change-budget.ts';

const costRoutes: Route[] = [
  route(operations.getBudget, async ({ db }, { params: { projectId } }) =>
    budgetView(requireBudget(await getBudgetRow(db, projectId), projectId)),
  ),
  route(operations.setBudget, (context, { params, body }) =>
    inTransaction(context, (context) => setBudget(context, params.projectId, body)),
  ),
  route(operations.deleteBudget, (context, { params }) =>
    inTransaction(context, (context) => deleteBudget(context, params.projectId)),
  ),
  route(operations.listCostCredentials, ({ db }, { params }) => listCostCredentials(db, params.projectId)),
  route(operations.assignCostCredential, (context, { params, body }) =>
    inTransaction(context, (context) => assignCostCredential(context, params.projectId, body.credentialsId)),
  ),
  route(operations.unassignCostCredential, (context, { params }) =>
    inTransaction(context, (context) =>
      unassignCostCredential(context, params.projectId, params.credentialsId),
    ),
  ),
];

export const family: Family = {
  name: 'costs',
  routes: costRoutes,
  tables: ['budget', 'cost_credential_assignment'],
};
