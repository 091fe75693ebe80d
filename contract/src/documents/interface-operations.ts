/** Every operation of the interface specification, those that this version does not have yet included. */
import type { Method } from '../schema/operation.ts';

export const interfaceOperations = [
  ['List variables by scope', 'GET', '/configuration'],
  ['Generate variables from repository', 'GET', '/blueprints/variables-from-repository'],
  ['Update a configuration set', 'PUT', '/configuration-sets/{id}'],
  ['List environments', 'GET', '/environments'],
  ['Create environment without template', 'POST', '/environments/without-template'],
  ['Get deployment', 'GET', '/environments/deployments/{id}'],
  ['Deploy environment', 'POST', '/environments/{id}/deployments'],
  ['Find deployment drift status', 'GET', '/environments/deployments/{id}/drift-status'],
  ['Add template to project', 'PATCH', '/blueprints/{id}/projects'],
  ['Enable or update environment discovery', 'PUT', '/environment-discovery/projects/{projectId}'],
  ['Get policy', 'GET', '/policies'],
  ['Update policy', 'PUT', '/policies'],
  ['List approval policies', 'GET', '/approval-policies'],
  ['List teams', 'GET', '/teams/organizations/{organizationId}'],
  ["Get the user's role assignments in a project", 'GET', '/permissions/projects/{projectId}'],
  ['Test cloud account', 'POST', '/cloud/configurations/{id}/test'],
  ['Update agent', 'PATCH', '/agents/{agentKey}'],
  ['Create agent secret', 'POST', '/agents/{agentKey}/secrets'],
  [
    'Update variable set secrets',
    'PATCH',
    '/environment-import/source/sessions/{sessionId}/variable-sets/{variableSetId}/secrets',
  ],
  ['Get issues', 'GET', '/code-optimizer/issues'],
] as const satisfies readonly (readonly [string, Method, `/${string}`])[];
