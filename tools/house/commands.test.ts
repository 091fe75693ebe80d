import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OperationName } from '#contract/operations.ts';
import { routes } from '#contract/routes.ts';
import { repositoryFiles, textOf } from '../tree/repository.ts';

const assignment = '"role assign" and "role unassign" do the same';
const byTerraform = 'a record of the registry, which Terraform configurations manage';
const stored = 'stored only, for Terraform configurations: nothing runs it yet';
const storedCosts = 'stored only, for Terraform configurations: nothing measures costs yet';
const older = 'an older form of the operations on roles of teams';

const ofMcp = 'for MCP servers: commands of environments and deployments do the same';

/** Operations that no command calls, each with its reason. */

const withoutCommand: Partial<Record<OperationName, string>> = {
  signIn: 'starts the session of a browser',
  changePassword: 'people change it in their browser: a terminal keeps what is typed',
  updateCurrentUser: 'people change it in their browser',
  previewInvitation: 'read by the page that the link of an invitation opens',
  acceptInvitation: 'called by the page that the link of an invitation opens',
  joinOrganization: 'called by the page that the link of an invitation opens',
  deleteCurrentUser: 'people delete their account in their browser',
  deleteUser: 'for the operator, at the request of a person',
  listScimTokens: 'administrators look at them in their browser',
  createScimToken: 'administrators copy it from their browser to the identity provider',
  deleteScimToken: 'administrators revoke them in their browser',
  startSingleSignOn: 'opened by browsers',
  finishSingleSignOn: 'opened by browsers',
  startCliSignIn: '"login --browser" opens it in a browser',
  approveCliSignIn: 'called by the page that asks a person',
  createPasswordReset: 'rare: docs/operate/sign-in.md shows the request',
  createSignInLink: 'rare: docs/operate/sign-in.md shows the request',
  signInByLink: 'called by the page that the link opens',
  resetPassword: 'people set passwords in their browser: a terminal keeps what is typed',
  listEnvironmentOutputs: 'for those who choose among outputs: "variables" takes references as text',
  getTestingProject: 'serves the tests of modules, which no version has yet',
  listModules: byTerraform,
  createModule: byTerraform,
  getModule: byTerraform,
  updateModule: byTerraform,
  deleteModule: byTerraform,
  listProviders: byTerraform,
  createProvider: byTerraform,
  getProvider: byTerraform,
  updateProvider: byTerraform,
  deleteProvider: byTerraform,
  listGpgKeys: byTerraform,
  createGpgKey: byTerraform,
  deleteGpgKey: byTerraform,
  listCustomFlows: stored,
  createCustomFlow: stored,
  updateCustomFlow: stored,
  getCustomFlow: stored,
  deleteCustomFlow: stored,
  assignCustomFlows: stored,
  unassignCustomFlows: stored,
  listCustomFlowAssignments: stored,
  findApprovalPolicies: '"approval-policies list" shows the same',
  unassignApprovalPolicies: '"approval-policies unassign" takes them away one by one',
  listAssignedApprovalPolicies: '"approval-policies list" shows where each is assigned',
  addProjectPermission: assignment,
  updateProjectPermission: assignment,
  removeProjectPermission: assignment,
  listTeamAssignments: older,
  addTeamAssignment: older,
  setTeamAssignments: older,
  removeTeamAssignment: older,
  assignConfigurationSet: 'an older form of the operation that "sets assign" calls',
  getDashboard: 'for dashboards of others: "environment statuses" and "deployments list" show the same',
  listCostCredentials: storedCosts,
  assignCostCredential: storedCosts,
  unassignCostCredential: storedCosts,
  listMcpProjects: ofMcp,
  listMcpEnvironments: ofMcp,
  getMcpEnvironment: ofMcp,
  listMcpDeployments: ofMcp,
  startMcpDeployment: ofMcp,
  resumeMcpEnvironment: ofMcp,
  cancelMcpEnvironment: ofMcp,
  abortMcpEnvironment: ofMcp,
  getMcpPlanLog: ofMcp,
  getMcpErrorAnalysis: ofMcp,
  getMcpDeployment: ofMcp,
  getVariable: '"variables show" shows what counts at a place, which is rarely the row alone',
};

const calls = repositoryFiles()
  .filter((file) => file.startsWith('cli/src/') && file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .flatMap((file) =>
    Array.from(
      (textOf(file) ?? '').matchAll(/\.(?:call|send|bytes|chunks|stream)\(\s*'(\w+)'/g),
      ([, name]) => name,
    ),
  );
const called = new Set(calls);

test('every operation has a command, or a reason why not', () => {
  const missing = Object.keys(routes).filter((name) => !called.has(name) && !(name in withoutCommand));
  assert.deepEqual(missing, [], 'add a command to cli/src/commands, or the reason to this test');
});

test('the reasons are for operations that there are, and that no command calls', () => {
  const stale = Object.keys(withoutCommand).filter((name) => !(name in routes) || called.has(name));
  assert.deepEqual(stale, []);
});
