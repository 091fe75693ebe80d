/**
 * Method and path of every operation, below `/api`. Stands apart from the schemas, so that the client of the browser and of the
 * command line loads this table and nothing else.
 */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export const apiBase = '/api';

export const routes = {
  listOrganizations: ['GET', '/organizations'],
  createOrganization: ['POST', '/organizations'],
  getOrganization: ['GET', '/organizations/{id}'],

  listProjects: ['GET', '/projects'],
  createProject: ['POST', '/projects'],
  getProject: ['GET', '/projects/{id}'],

  getTemplate: ['GET', '/blueprints/{id}'],

  listEnvironments: ['GET', '/environments'],
  createEnvironmentWithoutTemplate: ['POST', '/environments/without-template'],
  getEnvironment: ['GET', '/environments/{id}'],
  updateEnvironment: ['PUT', '/environments/{id}'],
  destroyEnvironment: ['POST', '/environments/{id}/destroy'],
  setEnvironmentLock: ['PUT', '/environments/{id}/lock'],

  getDeployment: ['GET', '/environments/deployments/{id}'],
  deployEnvironment: ['POST', '/environments/{id}/deployments'],
  listDeployments: ['GET', '/environments/{id}/deployments'],
  approveDeployment: ['PUT', '/environments/deployments/{id}'],
  cancelDeployment: ['PUT', '/environments/deployments/{id}/cancel'],
  cancelQueuedDeployments: ['PUT', '/environments/{id}/deployments/cancel'],
  abortDeployment: ['POST', '/environments/deployments/{id}/abort'],
  releaseDeployment: ['POST', '/environments/deployments/{id}/release'],
  getDriftStatus: ['GET', '/environments/deployments/{id}/drift-status'],
  listDeploymentResources: ['GET', '/environments/deployments/{id}/resources'],
  streamDeployment: ['GET', '/environments/deployments/{id}/events'],
  listSteps: ['GET', '/deployments/{deploymentLogId}/steps'],
  getStepLog: ['GET', '/deployments/{deploymentLogId}/steps/{name}/log'],

  listStateVersions: ['GET', '/environments/{id}/state-versions'],
  getStateVersion: ['GET', '/state-versions/{id}'],
  getStateContent: ['GET', '/state-versions/{id}/content'],

  listGitTokens: ['GET', '/tokens'],
  createGitToken: ['POST', '/tokens'],
  getGitToken: ['GET', '/tokens/{id}'],
  deleteGitToken: ['DELETE', '/tokens/{id}'],

  listAgents: ['GET', '/agents'],
  createAgentSecret: ['POST', '/agents/{agentKey}/secrets'],

  getOpenApi: ['GET', '/openapi.json'],
} as const satisfies Record<string, readonly [Method, `/${string}`]>;

export type OperationName = keyof typeof routes;
