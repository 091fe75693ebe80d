/** To remove something needs what it takes to make or change it: every operation that removes, of the whole contract. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type OperationName, operations } from '#contract/operations.ts';
import { rights } from '#contract/schema/enumerations.ts';
import type { Operation } from '#contract/schema/operation.ts';
import type { CallInput } from '../../../testing/client.ts';
import { startTests } from '../../../testing/start.ts';

const { app, organizationId, projectId, ok, refused, add } = await startTests();
const managing = ['EDIT_ORGANIZATION_SETTINGS', 'EDIT_PROJECT_SETTINGS', 'CREATE_CUSTOM_ROLES'] as const;
const viewing = rights.filter((right) => right.startsWith('VIEW_'));
/** May manage people, keys and roles, and has no other rights. */
const editor = await app.addKey({ [organizationId]: [...managing, ...viewing] });

let number = 0;
const named = (what: string) => `${what}-${++number}`;

async function adminKey() {
  const body = { organizationId, name: named('key'), permissions: { organizationRole: 'Admin' } };
  const made = await ok('createApiKey', { body });
  return made.apiKeyId;
}

async function teamWithRole(): Promise<string> {
  const { id } = await add('Team', named('team'));
  await ok('assignTeamRole', { body: { teamId: id, projectId, role: 'Deployer' } });
  return id;
}

async function invited(role = 'User') {
  const body = { email: `${named('person')}@example.com`, organizationId };
  return ok('createInvitation', { body: { ...body, permissions: { organizationRole: role } } });
}

async function deployer(): Promise<string> {
  const { userId } = await invited();
  await ok('assignUserRole', { body: { userId, projectId, role: 'Deployer' } });
  return userId;
}

/** Requests that remove rights which the editor does not have. */
const powers: Partial<Record<OperationName, () => Promise<CallInput>>> = {
  deleteApiKey: async () => ({ id: await adminKey() }),
  deleteApiKeySecret: async () => {
    const id = await adminKey();
    const { id: secretId } = await ok('addApiKeySecret', { id });
    return { params: { id, secretId } };
  },
  deleteInvitation: async () => ({ id: (await invited('Admin')).id }),
  removeMember: async () => ({ params: { id: organizationId, userId: await deployer() } }),
  deleteTeam: async () => ({ id: await teamWithRole() }),
  updateTeam: async () => {
    const id = await teamWithRole();
    await ok('updateTeam', { id, body: { userIds: [(await invited()).userId] } });
    return { id, body: { userIds: [] } };
  },
  deleteRole: async () => {
    const role = { organizationId, name: named('role'), permissions: ['RUN_APPLY'] };
    return { id: (await ok('createRole', { body: role })).id };
  },
  removeUserRole: async () => ({ query: { userId: await deployer(), projectId } }),
  assignUserRole: async () => ({ body: { userId: await deployer(), projectId, role: 'Viewer' } }),
  removeTeamRole: async () => ({ query: { teamId: await teamWithRole(), projectId } }),
  removeProjectPermission: async () => ({ params: { projectId, userId: await deployer() } }),
  removeTeamAssignment: async () => {
    const { id: teamId } = await add('Team', named('team'));
    const body = { teamId, projectId, projectRole: 'Deployer' };
    const { id: assignmentId } = await ok('addTeamAssignment', { body });
    return { params: { assignmentId } };
  },
  deleteScimToken: async () => {
    const { id: tokenId } = await ok('createScimToken', { id: organizationId });
    return { params: { id: organizationId, tokenId } };
  },
};

/** Entities that grant no rights: the operation that creates or changes them requires the same right. */
const counterparts: Partial<Record<OperationName, OperationName>> = {
  deleteProject: 'updateProject',
  deleteTemplate: 'createTemplate',
  removeTemplateFromProject: 'addTemplateToProject',
  deleteVariable: 'saveVariables',
  deleteConfigurationSet: 'updateConfigurationSet',
  unassignConfigurationSets: 'assignConfigurationSets',
  clearState: 'importState',
  deleteStateVersion: 'rollBackState',
  deleteStateAccess: 'setStateAccess',
  deleteDiscovery: 'setDiscovery',
  deleteGitToken: 'updateGitToken',
  deleteSshKey: 'updateSshKey',
  deleteVcsConnection: 'updateVcsConnection',
  deleteCredential: 'updateCredential',
  unassignCredential: 'assignCredential',
  deleteBudget: 'setBudget',
  unassignCostCredential: 'assignCostCredential',
  deleteModule: 'updateModule',
  deleteProvider: 'updateProvider',
  deleteGpgKey: 'createGpgKey',
  deleteCustomFlow: 'updateCustomFlow',
  unassignCustomFlows: 'assignCustomFlows',
  deleteApprovalPolicy: 'updateApprovalPolicy',
  unassignApprovalPolicy: 'assignApprovalPolicy',
  unassignApprovalPolicies: 'assignApprovalPolicy',
  deleteNotificationEndpoint: 'updateNotificationEndpoint',
  deleteAgent: 'createAgent',
  deleteAgentSecret: 'createAgentSecret',
  removeDownstream: 'setDownstream',
};

/** Entities that belong to the caller or the operator, or have their own right. */
const own: readonly OperationName[] = [
  'deleteSession',
  'deleteCurrentUser',
  'deletePersonalApiKey',
  'deletePersonalApiKeySecret',
  'deleteUser',
  // ARCHIVE_ENVIRONMENT
  'deleteEnvironment',
];

test('every operation that removes something is known here', () => {
  const removing = Object.values<Operation>(operations).filter(
    ({ method, name }) => method === 'DELETE' || /^(delete|remove|unassign|revoke)/.test(name),
  );
  const known = new Set([...Object.keys(powers), ...Object.keys(counterparts), ...own]);
  assert.deepEqual(
    removing.map(({ name }) => name).filter((name) => !known.has(name)),
    [],
    'add it to `powers` if it takes rights away, else to `counterparts`',
  );
});

for (const [name, make] of Object.entries(powers) as [OperationName, () => Promise<CallInput>][])
  test(`${name}: no one takes rights away that they do not have`, async () => {
    const request = await make();
    const { message } = await refused(name, 403, { ...request, as: editor });
    assert.match(message, /needs all rights of the role|has rights that you do not have/);
    await ok(name, request);
  });

for (const [name, other] of Object.entries(counterparts) as [OperationName, OperationName][])
  test(`${name} needs what ${other} needs`, () => {
    const rightsOf = ({ needs, needsToo = [] }: Operation) =>
      new Set([needs, ...needsToo.map(({ right }) => right)].filter((right) => right !== 'signed-in'));
    const removing = rightsOf(operations[name]);
    const making = rightsOf(operations[other]);
    assert.deepEqual(
      [...removing].filter((right) => !making.has(right) && right !== 'VIEW_ORGANIZATION'),
      [],
    );
    const changes = [...making].filter((right) => !right?.startsWith('VIEW_'));
    assert.ok(
      changes.some((right) => removing.has(right)),
      `${name} needs ${[...removing].join()}, ${other} ${changes.join()}`,
    );
  });
