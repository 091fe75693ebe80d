import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import type { OperationName } from '#contract/operations.ts';
import { startTests } from '../../../testing/start.ts';

const tests = await startTests();
const { app, organizationId, projectId, call, ok, refused, sql, add, keyFor, createIdle } = tests;
const { id: environmentId } = await createIdle();
const places: Record<string, string>[] = [{ organizationId }, { projectId }, { environmentId }];

const outsider = await app.addKey();
const as = outsider;
const { id: elsewhere } = await ok('createOrganization', { body: { name: 'Elsewhere' }, as });
const foreignTeam = await ok('createTeam', { body: { organizationId: elsewhere, name: 'foreign' }, as });
const [foreignProject] = await ok('listProjects', { query: { organizationId: elsewhere }, as });
await app.addKey({ [organizationId]: 'Admin' });
const team = await add('Team', 'operators');
const custom = await add('Role', 'custom', { permissions: ['VIEW_ENVIRONMENT', 'VIEW_PROJECT'] });

for (const place of places) {
  const [field = ''] = Object.keys(place);
  const roles = field === 'organizationId' ? ['Admin', 'User'] : ['Admin', 'Viewer'];

  test(`users: a role by ${field} is set, replaced under its id, listed and removed`, async () => {
    covers('RoleAssignment', 'organizationId', 'environmentId', 'user');
    const user = await app.addKey({ [organizationId]: 'User' });
    const assign = (role: string) => ok('assignUserRole', { body: { userId: user.id, role, ...place } });
    const first = await assign(roles[0] ?? '');
    assert.deepEqual(
      [first.userId, first.role, first.organizationId, first.isProjectArchived, first.user?.user_id],
      [user.id, roles[0], organizationId, false, user.id],
    );
    assert.deepEqual([first.projectId, first.environmentId], [place['projectId'], place['environmentId']]);
    const second = await assign(custom.id);
    assert.deepEqual(second, { ...first, role: custom.id });
    assert.deepEqual(await assign(custom.id), second);
    const list = () => ok('listUserRoles', { query: place });
    assert.deepEqual(
      (await list()).filter(({ userId }) => userId === user.id),
      [second],
    );
    const query = { ...place, userId: user.id };
    assert.deepEqual(await ok('removeUserRole', { query }), { id: first.id });
    assert.equal(await ok('removeUserRole', { query }), null);
    const left = (await list()).find(({ userId }) => userId === user.id);
    assert.equal(left?.role, field === 'organizationId' ? 'User' : undefined);
  });

  test(`teams: a role by ${field} is set, replaced under its id, listed and removed`, async () => {
    const assign = (role: string) => ok('assignTeamRole', { body: { teamId: team.id, role, ...place } });
    const first = await assign(roles[0] ?? '');
    assert.deepEqual(first, { id: first.id, teamId: team.id, role: roles[0], organizationId, ...place });
    const second = await assign(custom.id);
    assert.deepEqual(second, { ...first, role: custom.id });
    assert.deepEqual(await ok('listTeamRoles', { query: place }), [second]);
    const query = { ...place, teamId: team.id };
    assert.deepEqual(await ok('removeTeamRole', { query }), { id: first.id });
    assert.equal(await ok('removeTeamRole', { query }), null);
    assert.deepEqual(await ok('listTeamRoles', { query: place }), []);
  });

  test(`by ${field}: roles of other places, outsiders and unknown ids are refused`, async () => {
    const role = 'Admin';
    for (const userId of [outsider.id, 'nobody'])
      await refused('assignUserRole', 400, /^\/body\/userId /, { body: { userId, role, ...place } });
    for (const teamId of [foreignTeam.id, randomUUID(), 'no-uuid']) {
      const body = { teamId, role, ...place };
      await refused('assignTeamRole', 400, /^\/body\/teamId /, { body });
      const query = { teamId, ...place };
      await refused('removeTeamRole', 400, /^\/query\/teamId /, { query });
    }
    const wrong = field === 'organizationId' ? 'Viewer' : 'User';
    const body = { teamId: team.id, role: wrong, ...place };
    await refused('assignTeamRole', 400, /^\/body\/role must be one of/, { body });
  });

  test(`by ${field}: two roles assigned at once leave one`, async () => {
    const user = await app.addKey({ [organizationId]: 'User' });
    const replies = await Promise.all(
      [...roles, ...roles].flatMap((role) => [
        call('assignUserRole', { body: { userId: user.id, role, ...place } }),
        call('assignTeamRole', { body: { teamId: team.id, role, ...place } }),
      ]),
    );
    assert.deepEqual(new Set(replies.map(({ statusCode }) => statusCode)), new Set([200]));
    assert.equal(new Set(replies.map((each) => each.json<{ id: string }>().id)).size, 2);
    assert.equal((await ok('listTeamRoles', { query: place })).length, 1);
    const users = await ok('listUserRoles', { query: place });
    assert.equal(users.filter(({ userId }) => userId === user.id).length, 1);
    await ok('removeTeamRole', { query: { ...place, teamId: team.id } });
  });
}

test('a request names one place, and one of its own organization', async () => {
  const names: OperationName[] = ['assignUserRole', 'assignTeamRole'];
  const foreign = { projectId: foreignProject?.id ?? '' };
  const who = { userId: app.admin.id, teamId: team.id };
  for (const name of names) {
    const holder = name === 'assignUserRole' ? { userId: who.userId } : { teamId: who.teamId };
    const body = { ...holder, role: 'Admin' };
    const both = { ...body, projectId, organizationId };
    await refused(name, 400, /^\/body\/organizationId is too much/, { body: both });
    await refused(name, 400, { body });
    await refused(name, 400, { body: { ...body, organizationId, ...foreign } });
    await refused(name, 400, { body: { ...body, ...foreign } });
  }
  for (const name of ['listUserRoles', 'listTeamRoles'] as const) {
    await refused(name, 400, { query: { projectId, environmentId } });
    await refused(name, 400, {});
  }
});

test('each level has its right, and users grant only rights that they have there', async () => {
  const give = (as: typeof outsider, place: object, role: string) =>
    call('assignUserRole', { body: { userId: as.id, role, ...place }, as });
  const organizer = await app.addKey({ [organizationId]: ['EDIT_ORGANIZATION_SETTINGS'] });
  const projectAdmin = await keyFor('Admin', { projectId });
  const environmentAdmin = await keyFor('Admin', { environmentId });
  const deployer = await keyFor('Deployer', { projectId });
  const editor = await keyFor(['EDIT_PROJECT_SETTINGS', 'VIEW_PROJECT'], { projectId });
  const statuses = async (as: typeof outsider, roles: [object, string][]) => {
    const found: number[] = [];
    for (const [place, role] of roles) found.push((await give(as, place, role)).statusCode);
    return found;
  };
  const all: [object, string][] = [
    [{ organizationId }, 'Admin'],
    [{ projectId }, 'Admin'],
    [{ environmentId }, 'Admin'],
  ];
  assert.deepEqual(await statuses(organizer, all), [403, 403, 403]);
  assert.deepEqual(await statuses(deployer, all), [403, 403, 403]);
  assert.deepEqual(await statuses(environmentAdmin, all), [403, 403, 200]);
  assert.deepEqual(await statuses(editor, all), [403, 403, 403]);
  assert.match((await give(editor, { projectId }, 'Admin')).body, /\/body\/role needs all rights.*RUN_APPLY/);
  assert.deepEqual(await statuses(editor, [[{ projectId }, custom.id]]), [403]);
  assert.deepEqual(await statuses(projectAdmin, all), [403, 200, 200]);
  assert.deepEqual(await statuses(projectAdmin, [[{ projectId }, custom.id]]), [200]);
  await refused('assignUserRole', 403, /ASSIGN_ROLE_ON_ENVIRONMENT/, {
    body: { userId: deployer.id, environmentId, role: 'Viewer' },
    as: deployer,
  });
});

test('an assigned role holds at once, and a removed one no longer does', async () => {
  const user = await app.addKey({ [organizationId]: 'User' });
  const see = () => call('getEnvironment', { id: environmentId, as: user });
  await ok('updateTeam', { id: team.id, body: { userIds: [user.id] } });
  for (const place of [{ projectId }, { environmentId }] as Record<string, string>[]) {
    assert.equal((await see()).statusCode, 403);
    await ok('assignTeamRole', { body: { teamId: team.id, role: custom.id, ...place } });
    assert.equal((await see()).statusCode, 200);
    await ok('removeTeamRole', { query: { teamId: team.id, ...place } });
  }
  assert.equal((await see()).statusCode, 403);
});

test('assignments are audited', async () => {
  const user = await app.addKey({ [organizationId]: 'User' });
  const body = { userId: user.id, projectId };
  const { id } = await ok('assignUserRole', { body: { ...body, role: 'Viewer' } });
  await ok('assignUserRole', { body: { ...body, role: 'Planner' } });
  await ok('removeUserRole', { query: body });
  const rows = await sql(
    'select action, project_id, details, before, after from audit_event where entity_id = $1 order by id',
    id,
  );
  const about = { project_id: projectId, details: { userId: user.id, projectId, environmentId: null } };
  assert.deepEqual(rows, [
    { action: 'role.assigned', ...about, before: null, after: { role: 'Viewer' } },
    { action: 'role.reassigned', ...about, before: { role: 'Viewer' }, after: { role: 'Planner' } },
    { action: 'role.removed', ...about, before: { role: 'Planner' }, after: null },
  ]);
});
