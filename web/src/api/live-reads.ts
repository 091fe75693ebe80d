/** Reads that show the content of an event: a page stays current by having its reads here. */
import type { ChangedEntity, OrganizationStreamEvent } from '#contract/feeds/shapes.ts';
import type { OperationName } from '#contract/operations.ts';

const ofEnvironment: readonly OperationName[] = ['listEnvironments', 'getEnvironment'];
const ofDeployment: readonly OperationName[] = [
  ...ofEnvironment,
  'listDeployments',
  'getDeployment',
  'getDeploymentTimeline',
  'listPolicyVerdicts',
  'listEnvironmentOutputs',
  'listDeploymentResources',
  'listStateVersions',
  'getStateLock',
  'listVariables',
  'listDownstream',
  'getCalendar',
  'listNotificationDeliveries',
];

const ofEnvironmentChange: readonly OperationName[] = [
  ...ofEnvironment,
  'getEnvironmentSchedule',
  'getDriftSchedule',
  'listProjectSchedules',
  'listEnvironmentTags',
  'getCalendar',
  'listDownstream',
  'listNotificationDeliveries',
  'getDiscoveryState',
];

const ofAccess: readonly OperationName[] = [
  'explainPermissions',
  'listUserRoles',
  'listTeamRoles',
  'listProjectPermissions',
  'listTeamAssignments',
];
const ofVariables: readonly OperationName[] = ['listVariables', 'getVariable'];
const ofSets: readonly OperationName[] = [
  'listConfigurationSets',
  'getConfigurationSet',
  'listSetAssignments',
];

/** Other entities with lists. */
const ofChange: Readonly<Record<ChangedEntity, readonly OperationName[]>> = {
  organization: ['listOrganizations', 'getOrganization', 'getPolicy', 'getCurrentUser'],
  project: [
    'listProjects',
    'getProject',
    'listProjectSchedules',
    'getPolicy',
    'checkPolicyLimits',
    ...ofEnvironment,
  ],
  template: ['listTemplates', 'getTemplate'],
  variable: ofVariables,
  configurationSet: [...ofSets, ...ofVariables],
  credential: ['listCredentials', 'getCredential', 'listProjectCredentials'],
  gitToken: ['listGitTokens', 'getGitToken'],
  sshKey: ['listSshKeys', 'getSshKey'],
  vcsConnection: ['listVcsConnections', 'getVcsConnection'],
  module: ['listModules', 'getModule'],
  provider: ['listProviders', 'getProvider'],
  gpgKey: ['listGpgKeys'],
  customFlow: ['listCustomFlows', 'getCustomFlow'],
  approvalPolicy: [
    'listPolicyVerdicts',
    'listApprovalPolicies',
    'findApprovalPolicies',
    'listAssignedApprovalPolicies',
    'getTemplate',
  ],
  team: ['listTeams', 'getTeam', ...ofAccess],
  role: ['listRoles', 'getRole', ...ofAccess],
  roleAssignment: ofAccess,
  member: ['listMembers', ...ofAccess],
  invitation: ['listInvitations', 'listMembers'],
  apiKey: ['listApiKeys', 'getApiKey', 'listPersonalApiKeys'],
  scimToken: ['listScimTokens'],
  agent: ['listAgents', 'getAgent', 'listAgentSecrets', 'listProjectAgents'],
  notificationEndpoint: [
    'listNotificationEndpoints',
    'getNotificationEndpoint',
    'listNotificationAssignments',
  ],
  discovery: ['getDiscovery', 'getDiscoveryState', 'listDiscoveryScans'],
  state: ['listStateVersions', 'getStateLock', 'getStateAccess'],
  auditTrail: ['listAuditEvents'],
};

/** @returns names of the reads that are repeated */
export function readsOf(event: OrganizationStreamEvent): readonly OperationName[] {
  switch (event.event) {
    case 'deployment':
      return ofDeployment;
    case 'step':
      return ['listSteps'];
    case 'environment':
      return ofEnvironmentChange;
    case 'changed':
      return ofChange[event.data.entity];
    default:
      return [];
  }
}
