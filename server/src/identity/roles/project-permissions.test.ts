import assert from 'node:assert/strict';
import { test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import { fieldOf, fieldsOf } from '../../../testing/fields.ts';
import { startTests } from '../../../testing/start.ts';

const { app, organizationId, ok, refused } = await startTests();
const project = (name: string, parentProjectId?: string) =>
  ok('createProject', { body: { organizationId, name, parentProjectId } });
const outer = await project('outer');
const inner = await project('inner', outer.id);
const params = { projectId: inner.id };
const ada = await app.addKey({ [organizationId]: 'User' });
const ben = await app.addKey({ [organizationId]: 'User' });
const team = await ok('createTeam', { body: { organizationId, name: 'operators' } });
await ok('updateTeam', { id: team.id, body: { userIds: [ada.id, ben.id] } });

test('a role in a project is added, changed under its id, and removed', async () => {
  const add = (userId: string, role: string) =>
    ok('addProjectPermission', { params, body: { userId, role } });
  const first = await add(ada.id, 'Viewer');
  assert.deepEqual(
    [first.userId, first.role, first.projectId, first.organizationId, first.isProjectArchived],
    [ada.id, 'Viewer', inner.id, organizationId, false],
  );
  const ofAda = { ...params, userId: ada.id };
  const changed = await ok('updateProjectPermission', { params: ofAda, body: { role: 'Deployer' } });
  assert.deepEqual(changed, { ...first, role: 'Deployer' });
  assert.deepEqual(await add(ada.id, 'Viewer'), first);
  assert.deepEqual(await ok('listProjectPermissions', { params }), [first]);
  assert.deepEqual(await ok('removeProjectPermission', { params: ofAda }), { id: first.id });
  await refused('removeProjectPermission', 404, { params: ofAda });
  await refused('updateProjectPermission', 404, { params: ofAda, body: { role: 'Viewer' } });
  const body = { userId: 'nobody', role: 'Viewer' };
  await refused('addProjectPermission', 400, /\/body\/userId/, { params, body });
  await refused('addProjectPermission', 403, { params, body: { userId: ben.id, role: 'Admin' }, as: ben });
});

test("everybody's roles are listed, also by team, for managers; others see their own", async () => {
  covers('listProjectPermissions', 'query.includeInherited', 'reply');
  covers('RoleAssignment', 'id', 'userId', 'teamId', 'projectId', 'role', 'isProjectArchived');
  const inTeam = await ok('assignTeamRole', {
    body: { teamId: team.id, projectId: inner.id, role: 'Viewer' },
  });
  const direct = await ok('addProjectPermission', { params, body: { userId: ada.id, role: 'Admin' } });
  const above = await ok('addProjectPermission', {
    params: { projectId: outer.id },
    body: { userId: ben.id, role: 'Planner' },
  });
  const list = async (as?: typeof ada, query: Record<string, string> = {}) =>
    (await ok('listProjectPermissions', { params, query, ...(as ? { as } : {}) })).map(
      ({ id, userId, teamId, projectId, role }) => [id, userId, teamId, projectId, role],
    );
  const byTeam = [ada.id, ben.id]
    .toSorted()
    .map((userId) => [inTeam.id, userId, team.id, inner.id, 'Viewer']);
  const all = [[direct.id, ada.id, undefined, inner.id, 'Admin'], ...byTeam];
  assert.deepEqual(await list(), all);
  assert.deepEqual(await list(ada), all);
  const own = byTeam.filter(([, userId]) => userId === ben.id);
  assert.deepEqual(await list(ben), own);
  const inherited = [above.id, ben.id, undefined, outer.id, 'Planner'];
  assert.deepEqual(await list(undefined, { includeInherited: 'true' }), [inherited, ...all]);
  assert.deepEqual(await list(ben, { includeInherited: 'true' }), [inherited, ...own]);
  const other = await app.addKey({ [organizationId]: 'User' });
  await refused('listProjectPermissions', 403, /VIEW_PROJECT/, { params, as: other });
  await ok('deleteProject', { id: inner.id });
  assert.deepEqual(
    (await ok('listProjectPermissions', { params, query: { includeInherited: 'true' } })).map(
      ({ projectId, isProjectArchived }) => [projectId, isProjectArchived],
    ),
    [
      [outer.id, false],
      [inner.id, true],
      [inner.id, true],
      [inner.id, true],
    ],
  );
});

test('the older operations on roles of teams act on the same assignments', async () => {
  const { id: projectId } = await project('older');
  const second = await ok('createTeam', { body: { organizationId, name: 'second' } });
  const body = { teamId: team.id, projectId, projectRole: 'Viewer' };
  const first = await ok('addTeamAssignment', { body });
  assert.deepEqual(first, { id: first.id, ...body });
  assert.deepEqual(await ok('addTeamAssignment', { body: { ...body, projectRole: 'Admin' } }), {
    ...first,
    projectRole: 'Admin',
  });
  const list = () => ok('listTeamAssignments', { query: { projectId } });
  assert.deepEqual(await list(), [{ ...first, projectRole: 'Admin' }]);
  assert.equal((await ok('listTeamRoles', { query: { projectId } }))[0]?.id, first.id);
  const assignments = [
    { teamId: team.id, projectRole: 'Planner' },
    { teamId: second.id, projectRole: 'Viewer' },
  ];
  const replaced = await ok('setTeamAssignments', { body: { projectId, assignments } });
  assert.deepEqual(fieldsOf(replaced, 'teamId', 'projectRole'), [
    [second.id, 'Viewer'],
    [team.id, 'Planner'],
  ]);
  assert.equal(replaced[1]?.id, first.id);
  const twice = [...assignments, { teamId: team.id, projectRole: 'Admin' }];
  await refused('setTeamAssignments', 400, /^\/body\/assignments\/2\/teamId/, {
    body: { projectId, assignments: twice },
  });
  const unknown = [...assignments.slice(0, 1), { teamId: 'no-uuid', projectRole: 'Admin' }];
  await refused('setTeamAssignments', 400, { body: { projectId, assignments: unknown } });
  assert.deepEqual(await list(), replaced, 'what is refused changes nothing');
  await ok('setTeamAssignments', { body: { projectId, assignments: assignments.slice(1) } });
  assert.deepEqual(fieldOf(await list(), 'teamId'), [second.id]);
  const removal = { params: { assignmentId: replaced[0]?.id ?? '' } };
  assert.deepEqual(await ok('removeTeamAssignment', removal), { id: replaced[0]?.id });
  await refused('removeTeamAssignment', 404, removal);
  assert.deepEqual(await list(), []);
});

test('the older operations also assign in the organization, with its right', async () => {
  const wide = await ok('addTeamAssignment', { body: { teamId: team.id, projectRole: 'User' } });
  assert.deepEqual(wide, { id: wide.id, teamId: team.id, organizationId, projectRole: 'User' });
  const editor = await app.addKey({ [organizationId]: ['EDIT_PROJECT_SETTINGS'] });
  const input = { params: { assignmentId: wide.id }, as: editor };
  await refused('removeTeamAssignment', 403, /EDIT_ORGANIZATION_SETTINGS/, input);
  const body = { teamId: team.id, projectRole: 'User' };
  await refused('addTeamAssignment', 403, { body, as: editor });
  await ok('setTeamAssignments', { body: { organizationId, assignments: [] } });
  assert.deepEqual(await ok('listTeamRoles', { query: { organizationId } }), []);
});
