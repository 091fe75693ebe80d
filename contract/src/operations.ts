/** Every operation of the interface, by name. */
import * as agents from './agents/operations.ts';
import * as deployments from './deployments/operations.ts';
import * as environments from './environments/operations.ts';
import * as gitTokens from './git-tokens/operations.ts';
import type { Operation } from './operation.ts';
import * as organizations from './organizations/operations.ts';
import * as projects from './projects/operations.ts';
import type { OperationName } from './routes.ts';
import * as sshKeys from './ssh-keys/operations.ts';
import * as schedules from './schedules/operations.ts';
import * as state from './state/operations.ts';
import * as system from './system/operations.ts';
import * as templates from './templates/operations.ts';

export const operations = {
  listOrganizations: organizations.listOrganizations,
  createOrganization: organizations.createOrganization,
  getOrganization: organizations.getOrganization,
  updateOrganizationPolicies: organizations.updateOrganizationPolicies,
  streamOrganization: organizations.streamOrganization,

  listProjects: projects.listProjects,
  createProject: projects.createProject,
  getProject: projects.getProject,
  updateProject: projects.updateProject,
  deleteProject: projects.deleteProject,
  moveProject: projects.moveProject,
  getTestingProject: projects.getTestingProject,

  getTemplate: templates.getTemplate,

  listEnvironments: environments.listEnvironments,
  createEnvironmentWithoutTemplate: environments.createEnvironmentWithoutTemplate,
  getEnvironment: environments.getEnvironment,
  updateEnvironment: environments.updateEnvironment,
  destroyEnvironment: environments.destroyEnvironment,
  setEnvironmentLock: environments.setEnvironmentLock,
  updateEnvironmentTtl: environments.updateEnvironmentTtl,
  moveEnvironment: environments.moveEnvironment,
  listEnvironmentTags: environments.listEnvironmentTags,

  getEnvironmentSchedule: schedules.getEnvironmentSchedule,
  updateEnvironmentSchedule: schedules.updateEnvironmentSchedule,
  listProjectSchedules: schedules.listProjectSchedules,
  getDriftSchedule: schedules.getDriftSchedule,
  updateDriftSchedule: schedules.updateDriftSchedule,

  getDeployment: deployments.getDeployment,
  deployEnvironment: deployments.deployEnvironment,
  uploadSource: deployments.uploadSource,
  listDeployments: deployments.listDeployments,
  approveDeployment: deployments.approveDeployment,
  cancelDeployment: deployments.cancelDeployment,
  cancelQueuedDeployments: deployments.cancelQueuedDeployments,
  abortDeployment: deployments.abortDeployment,
  releaseDeployment: deployments.releaseDeployment,
  getDriftStatus: deployments.getDriftStatus,
  listDeploymentResources: deployments.listDeploymentResources,
  streamDeployment: deployments.streamDeployment,
  listSteps: deployments.listSteps,
  getStepLog: deployments.getStepLog,

  listStateVersions: state.listStateVersions,
  getStateVersion: state.getStateVersion,
  importState: state.importState,
  clearState: state.clearState,
  getStateContent: state.getStateContent,
  compareStateVersions: state.compareStateVersions,
  rollBackState: state.rollBackState,
  promoteStateVersion: state.promoteStateVersion,
  getStateLock: state.getStateLock,
  freeStateLock: state.freeStateLock,
  getStateAccess: state.getStateAccess,
  setStateAccess: state.setStateAccess,
  deleteStateAccess: state.deleteStateAccess,

  listGitTokens: gitTokens.listGitTokens,
  createGitToken: gitTokens.createGitToken,
  getGitToken: gitTokens.getGitToken,
  deleteGitToken: gitTokens.deleteGitToken,

  listSshKeys: sshKeys.listSshKeys,
  createSshKey: sshKeys.createSshKey,
  updateSshKey: sshKeys.updateSshKey,
  deleteSshKey: sshKeys.deleteSshKey,

  listAgents: agents.listAgents,
  createAgentSecret: agents.createAgentSecret,

  getOpenApi: system.getOpenApi,
} satisfies Record<OperationName, Operation>;
