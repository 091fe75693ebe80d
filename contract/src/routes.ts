/**
 * Method and path of every operation, below `/api`. Stands apart from the schemas, so that the client of the
 * browser and of the command line loads this table and nothing else.
 */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export const apiBase = '/api';

export const routes = {
  listOrganizations: ['GET', '/organizations'],
  createOrganization: ['POST', '/organizations'],
  getOrganization: ['GET', '/organizations/{id}'],
  updateOrganizationPolicies: ['POST', '/organizations/{id}/policies'],
  streamOrganization: ['GET', '/organizations/{id}/events'],

  listProjects: ['GET', '/projects'],
  createProject: ['POST', '/projects'],
  getProject: ['GET', '/projects/{id}'],
  updateProject: ['PUT', '/projects/{id}'],
  deleteProject: ['DELETE', '/projects/{id}'],
  moveProject: ['POST', '/projects/{id}/move'],
  getTestingProject: ['GET', '/projects/modules/testing/{organizationId}'],

  getTemplate: ['GET', '/blueprints/{id}'],

  listEnvironments: ['GET', '/environments'],
  createEnvironmentWithoutTemplate: ['POST', '/environments/without-template'],
  getEnvironment: ['GET', '/environments/{id}'],
  updateEnvironment: ['PUT', '/environments/{id}'],
  destroyEnvironment: ['POST', '/environments/{id}/destroy'],
  setEnvironmentLock: ['PUT', '/environments/{id}/lock'],
  updateEnvironmentTtl: ['PUT', '/environments/{id}/ttl'],
  moveEnvironment: ['POST', '/environments/{id}/move'],
  listEnvironmentTags: ['GET', '/environments/tags'],

  getEnvironmentSchedule: ['GET', '/scheduling/environments/{id}'],
  updateEnvironmentSchedule: ['PUT', '/scheduling/environments/{id}'],
  listProjectSchedules: ['GET', '/scheduling/projects/{id}'],
  getDriftSchedule: ['GET', '/scheduling/drift-detection/environments/{id}'],
  updateDriftSchedule: ['PATCH', '/scheduling/drift-detection/environments/{id}'],

  getDeployment: ['GET', '/environments/deployments/{id}'],
  deployEnvironment: ['POST', '/environments/{id}/deployments'],
  uploadSource: ['POST', '/environments/{id}/sources'],
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
  importState: ['POST', '/environments/{id}/state-versions'],
  clearState: ['DELETE', '/environments/{id}/state'],
  getStateContent: ['GET', '/state-versions/{id}/content'],
  compareStateVersions: ['GET', '/state-versions/{id}/compare'],
  rollBackState: ['POST', '/state-versions/{id}/rollback'],
  promoteStateVersion: ['POST', '/state-versions/{id}/promote'],
  getStateLock: ['GET', '/environments/{id}/state-lock'],
  freeStateLock: ['POST', '/environments/{id}/state-lock/free'],
  getStateAccess: ['GET', '/remote-backend/states/{environmentId}/access-control'],
  setStateAccess: ['PUT', '/remote-backend/states/{environmentId}/access-control'],
  deleteStateAccess: ['DELETE', '/remote-backend/states/{environmentId}/access-control'],

  listGitTokens: ['GET', '/tokens'],
  createGitToken: ['POST', '/tokens'],
  getGitToken: ['GET', '/tokens/{id}'],
  deleteGitToken: ['DELETE', '/tokens/{id}'],

  listSshKeys: ['GET', '/ssh-keys'],
  createSshKey: ['POST', '/ssh-keys'],
  updateSshKey: ['PUT', '/ssh-keys/{id}'],
  deleteSshKey: ['DELETE', '/ssh-keys/{id}'],

  listAgents: ['GET', '/agents'],
  createAgentSecret: ['POST', '/agents/{agentKey}/secrets'],

  getOpenApi: ['GET', '/openapi.json'],
} as const satisfies Record<string, readonly [Method, `/${string}`]>;

export type OperationName = keyof typeof routes;
