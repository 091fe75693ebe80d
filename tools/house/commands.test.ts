import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OperationName } from '#contract/operations.ts';
import { routes } from '#contract/routes.ts';
import { repositoryFiles, textOf } from '../repository.ts';

const access = 'people, teams and roles are provisioned by programs';
const older = 'an older form of the operations on roles of teams';

/** Operations that no command calls, each with its reason. */
const withoutCommand: Partial<Record<OperationName, string>> = {
  listSignInMethods: 'read by the page where people sign in',
  signIn: 'starts the session of a browser',
  signInCli: 'for programs that have no API key',
  signOut: 'ends the session of a browser or a program',
  changePassword: 'people change it in their browser: a terminal keeps what is typed',
  getCurrentUser: 'read by pages',
  updateCurrentUser: 'people change it in their browser',
  listSessions: 'people look at them in their browser',
  deleteSession: 'people end them in their browser',
  createInvitation: 'administrators invite people in their browser',
  listInvitations: 'administrators look at them in their browser',
  resendInvitation: 'administrators renew them in their browser',
  deleteInvitation: 'administrators revoke them in their browser',
  previewInvitation: 'read by the page that the link of an invitation opens',
  acceptInvitation: 'called by the page that the link of an invitation opens',
  joinOrganization: 'called by the page that the link of an invitation opens',
  createAdmin: 'called once, with the first key',
  removeMember: 'administrators remove people in their browser',
  deleteCurrentUser: 'people delete their account in their browser',
  deleteUser: 'for the operator, at the request of a person',
  listApiKeys: 'the command line manages no keys',
  createApiKey: 'the command line manages no keys',
  getApiKey: 'the command line manages no keys',
  updateApiKey: 'the command line manages no keys',
  deleteApiKey: 'the command line manages no keys',
  addApiKeySecret: 'the command line manages no keys',
  deleteApiKeySecret: 'the command line manages no keys',
  listPersonalApiKeys: 'the command line manages no keys',
  createPersonalApiKey: 'the command line manages no keys',
  deletePersonalApiKey: 'the command line manages no keys',
  addPersonalApiKeySecret: 'the command line manages no keys',
  deletePersonalApiKeySecret: 'the command line manages no keys',
  getTestingProject: 'serves the tests of modules, which no version has yet',
  listMembers: access,
  setMemberRole: access,
  listTeams: access,
  createTeam: access,
  getTeam: access,
  updateTeam: access,
  deleteTeam: access,
  listRoles: access,
  createRole: access,
  getRole: access,
  updateRole: access,
  deleteRole: access,
  listUserRoles: access,
  assignUserRole: access,
  removeUserRole: access,
  listTeamRoles: access,
  assignTeamRole: access,
  removeTeamRole: access,
  listProjectPermissions: access,
  addProjectPermission: access,
  updateProjectPermission: access,
  removeProjectPermission: access,
  listTeamAssignments: older,
  addTeamAssignment: older,
  setTeamAssignments: older,
  removeTeamAssignment: older,
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
