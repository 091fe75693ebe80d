/** The budget of a project, and the credentials that read what it costs. */
import { type Static, Type } from 'typebox';
import { oneOf } from '../schema/enumerations.ts';
import { noEffects, withoutEffect } from '../schema/no-effect.ts';
import { defineOperations, operation } from '../schema/operation.ts';
import { closed, Name } from '../schema/schema.ts';
import { Budget, CostCredential } from './shapes.ts';
import { budgetTimeframes } from './timeframes.ts';

const byProject = Type.Object({ projectId: Name });
const thisProject = { entity: 'project', in: 'params', field: 'projectId' } as const;

/** Maximum number of thresholds of a budget, and the largest of them. */
const mostThresholds = 20;
const highestThreshold = 1000;

const SetBudgetBody = closed({
  amount: withoutEffect(Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000_000_000 }), noEffects.budgets),
  timeframe: oneOf(budgetTimeframes, 'How often the amount is available again'),
  thresholds: Type.Array(Type.Integer({ minimum: 1, maximum: highestThreshold }), {
    maxItems: mostThresholds,
    uniqueItems: true,
    description:
      'Percentages of the amount at which users are notified, each once; more than 100 is possible. They are ' +
      'returned in the order sent',
  }),
});
export type SetBudgetBody = Static<typeof SetBudgetBody>;

const AssignBody = closed({
  credentialsId: withoutEffect(Type.String({ minLength: 1 }), noEffects.costCredentials),
});

export const operations = defineOperations('costs', {
  getBudget: operation('GET', '/costs/project/{projectId}/budget', {
    summary: 'Get budget of project',
    description: '404 if the project has none.',
    needs: 'VIEW_PROJECT',
    subject: thisProject,
    params: byProject,
    reply: Budget,
  }),
  setBudget: operation('PUT', '/costs/project/{projectId}/budget', {
    summary: 'Set budget of project',
    description: 'Creates the budget, or replaces it. It is stored, but has no effect yet.',
    needs: 'EDIT_PROJECT_SETTINGS',
    subject: thisProject,
    params: byProject,
    body: SetBudgetBody,
    reply: Budget,
  }),
  deleteBudget: operation('DELETE', '/costs/project/{projectId}/budget', {
    summary: 'Delete budget of project',
    description: '404 if the project has none.',
    needs: 'EDIT_PROJECT_SETTINGS',
    subject: thisProject,
    params: byProject,
    reply: Type.Object({ id: Type.String({ description: 'Id of the budget' }) }),
  }),
  listCostCredentials: operation('GET', '/costs/project/{projectId}/credentials', {
    summary: 'List credentials that read the costs of a project',
    description: 'Those that are assigned to the project itself, newest assignment first.',
    needs: 'VIEW_PROJECT',
    subject: thisProject,
    params: byProject,
    reply: Type.Array(CostCredential),
  }),
  assignCostCredential: operation('PUT', '/costs/project/{projectId}/credentials', {
    summary: 'Assign credential that reads the costs of a project',
    description:
      'A credential of the type AWS_ASSUMED_ROLE, GCP_CREDENTIALS or AZURE_CREDENTIALS. It is stored, but has no ' +
      'effect yet.',
    needs: 'EDIT_PROJECT_SETTINGS',
    needsToo: [{ right: 'EDIT_ORGANIZATION_SETTINGS', for: 'credentials of the organization' }],
    subject: thisProject,
    params: byProject,
    body: AssignBody,
    reply: CostCredential,
  }),
  unassignCostCredential: operation('DELETE', '/costs/project/{projectId}/credentials/{credentialsId}', {
    summary: 'Remove credential that reads the costs of a project',
    needs: 'EDIT_PROJECT_SETTINGS',
    subject: thisProject,
    params: Type.Object({
      projectId: Name,
      credentialsId: Type.String({ minLength: 1, description: 'Id of the credential' }),
    }),
    reply: Type.Object({
      projectId: Type.String({ description: 'Id of the project' }),
      credentialsId: Type.String({ description: 'Id of the credential' }),
    }),
  }),
});
