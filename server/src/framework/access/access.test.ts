import assert from 'node:assert/strict';
import { test } from 'node:test';
import { builtInRoles } from '#contract/schema/built-in-roles.ts';
import { rights } from '#contract/schema/enumerations.ts';
import { fieldOf, fieldsOf } from '../../../testing/fields.ts';
import { startAgentTests } from '../../../testing/start.ts';
import type { FirstKey } from '../../start/bootstrap.ts';
import { rightsOfRole } from './role-rights.ts';

const tests = await startAgentTests();
const { app, organizationId, call, ok, refused, sql, add, keyFor, createActive, createIdle } = tests;

const project = (name: string, parentProjectId?: string) => add('Project', name, { parentProjectId });
const outer = await project('outer');
const inner = await project('inner', outer.id);
const second = await project('second');
const environment = (name: string, id: string) => createIdle({ name, projectId: id });
const inOuter = await environment('in-outer', outer.id);
const inInner = await environment('in-inner', inner.id);
const inSecond = await environment('in-second', second.id);

const listed = async (as: Awaited<ReturnType<typeof app.addKey>>, query: Record<string, string> = {}) => {
  const response = await call('listEnvironments', { as, query });
  const names = response.json<{ name: string }[]>().map(({ name }) => name);
  return [names, Number(response.headers['x-total-count'])] as const;
};

test('a role in a project holds below it, and nowhere else', async () => {
  const as = await keyFor('Viewer', { projectId: outer.id });
  assert.deepEqual(await listed(as), [['in-inner', 'in-outer'], 2]);
  assert.deepEqual(await listed(as, { projectId: inner.id }), [['in-inner'], 1]);
  assert.deepEqual(await listed(as, { projectId: second.id }), [[], 0]);
  assert.deepEqual(await listed(as, { searchText: 'in-' }), [['in-inner', 'in-outer'], 2]);
  const projects = await ok('listProjects', { as });
  assert.deepEqual(fieldsOf(projects, 'name', 'role'), [
    ['inner', 'Viewer'],
    ['outer', 'Viewer'],
  ]);
  await ok('getEnvironment', { id: inInner.id, as });
  await refused('getEnvironment', 403, /VIEW_ENVIRONMENT/, { id: inSecond.id, as });
  await refused('deployEnvironment', 403, /RUN_PLAN/, { id: inInner.id, body: {}, as });
});

test('a role in an environment holds for that environment', async () => {
  const as = await keyFor('Deployer', { environmentId: inSecond.id });
  assert.deepEqual(await listed(as), [['in-second'], 1]);
  assert.deepEqual(await listed(as, { projectId: second.id }), [['in-second'], 1]);
  assert.deepEqual(await listed(as, { projectId: outer.id }), [[], 0]);
  await ok('getEnvironment', { id: inSecond.id, as });
  await refused('getEnvironment', 403, { id: inOuter.id, as });
  await refused('updateProject', 403, { id: second.id, body: { name: 'x' }, as });
});

test('the rights of several roles are joined', async () => {
  const as = await app.addKey({ [organizationId]: ['VIEW_ORGANIZATION'] }, [
    { organizationId, projectId: outer.id, role: ['VIEW_ENVIRONMENT'] },
    { organizationId, projectId: inner.id, role: ['VIEW_PROJECT'] },
    { organizationId, environmentId: inSecond.id, role: ['VIEW_ENVIRONMENT'] },
  ]);
  assert.deepEqual(await listed(as), [['in-second', 'in-inner', 'in-outer'], 3]);
  assert.deepEqual(fieldOf(await ok('listProjects', { as }), 'name'), ['inner']);
});

test('a team passes its roles on to its members, at once and only as long as they are members', async () => {
  const as = await app.addKey({ [organizationId]: 'User' });
  const teamId = app.context.newId();
  await sql(
    'insert into team (id, organization_id, name, created_by) values ($1, $2, $3, $4)',
    teamId,
    organizationId,
    'operators',
    'test',
  );
  await sql(
    `insert into role_assignment (id, organization_id, team_id, project_id, role, created_by)
     values ($1, $2, $3, $4, 'Viewer', 'test')`,
    app.context.newId(),
    organizationId,
    teamId,
    outer.id,
  );
  assert.deepEqual(await listed(as), [[], 0]);
  await sql('insert into team_member (team_id, user_id) values ($1, $2)', teamId, as.id);
  assert.deepEqual(await listed(as), [['in-inner', 'in-outer'], 2]);
  await sql("update role_assignment set role = 'nothing' where team_id = $1", teamId);
  assert.deepEqual(await listed(as), [[], 0]);
  await sql("update role_assignment set role = 'Viewer', project_id = null where team_id = $1", teamId);
  assert.deepEqual(await listed(as), [[], 0], 'a role of projects means nothing in the organization');
  await sql("update role_assignment set role = 'Admin' where team_id = $1", teamId);
  assert.equal((await listed(as))[1], 3);
  await sql('delete from team where id = $1', teamId);
  assert.deepEqual(await listed(as), [[], 0]);
});

test('a changed role, a moved project, a left organization and a blocked user take effect with the next request', async () => {
  const as = await keyFor(['VIEW_ENVIRONMENT'], { projectId: second.id });
  assert.deepEqual(await listed(as), [['in-second'], 1]);
  await ok('moveProject', { id: inner.id, body: { targetProjectId: second.id } });
  assert.deepEqual(await listed(as), [['in-second', 'in-inner'], 2]);
  await ok('moveProject', { id: inner.id, body: { targetProjectId: outer.id } });
  await sql(
    `update role set permissions = '{VIEW_PROJECT}' where id in
    (select role_id from role_assignment where user_id = $1)`,
    as.id,
  );
  assert.deepEqual(await listed(as), [[], 0]);
  await sql('delete from organization_member where user_id = $1', as.id);
  assert.deepEqual(await ok('listOrganizations', { as }), []);
  await sql('update app_user set is_blocked = true where id = $1', as.id);
  assert.equal((await call('listOrganizations', { as })).statusCode, 401);
});

test('an invited member has no rights yet', async () => {
  const as = await app.addKey({ [organizationId]: 'Admin' });
  await sql("update organization_member set status = 'Invited' where user_id = $1", as.id);
  assert.deepEqual(await ok('listOrganizations', { as }), []);
});

test('a custom role of another organization gives nothing', async () => {
  const other = await ok('createOrganization', { body: { name: 'Elsewhere' } });
  const insider = await app.addKey({ [other.id]: ['VIEW_ENVIRONMENT', 'VIEW_PROJECT'] });
  const rows = await sql('select role from organization_member where user_id = $1', insider.id);
  const as = await app.addKey({ [organizationId]: (rows[0] as { role: string }).role });
  assert.deepEqual(await listed(as), [[], 0]);
});

test('moving an object requires the right at its destination, too', async () => {
  const as = await keyFor([...rights], { projectId: outer.id });
  const toSecond = { id: inOuter.id, body: { projectId: second.id }, as };
  await refused('moveEnvironment', 403, /projectId.*MOVE_ENVIRONMENTS/, toSecond);
  const inside = { id: inOuter.id, body: { projectId: inner.id }, as };
  await ok('moveEnvironment', inside);
  await ok('moveEnvironment', { ...inside, body: { projectId: outer.id } });
  const upwards = { id: inner.id, body: { targetProjectId: null }, as };
  await refused('moveProject', 403, /targetProjectId.*CREATE_PROJECT/, upwards);
  const below = { organizationId, name: 'below', parentProjectId: inner.id };
  await ok('createProject', { body: below, as });
  await refused('createProject', 403, { body: { organizationId, name: 'top' }, as });
});

test('a project is moved by those who may edit it, where it comes to and what it leaves', async () => {
  const moved = await add('Project', 'moved', { parentProjectId: inner.id });
  const inMoved = { organizationId, projectId: moved.id, role: 'Admin' };
  const move = (targetProjectId: string, as: FirstKey) => ({ id: moved.id, body: { targetProjectId }, as });
  const maker = await app.addKey({ [organizationId]: 'User' }, [
    { organizationId, projectId: outer.id, role: 'Admin' },
    { organizationId, projectId: second.id, role: ['CREATE_PROJECT'] },
  ]);
  assert.match(
    (await refused('moveProject', 403, move(second.id, maker))).message,
    /targetProjectId needs the right EDIT_PROJECT_SETTINGS/,
  );
  const settler = await app.addKey({ [organizationId]: 'User' }, [
    inMoved,
    { organizationId, projectId: inner.id, role: 'Admin' },
    { organizationId, projectId: second.id, role: 'Admin' },
  ]);
  assert.match(
    (await refused('moveProject', 403, move(second.id, settler))).message,
    /Moving the project out of "outer" needs the right EDIT_PROJECT_SETTINGS/,
  );
  const both = await app.addKey({ [organizationId]: 'User' }, [
    { organizationId, projectId: outer.id, role: 'Admin' },
    { organizationId, projectId: second.id, role: 'Admin' },
  ]);
  await ok('moveProject', move(second.id, both));
  await ok('moveProject', move(inner.id, both));
});

test('a state is read by those who may read states of an allowed project', async () => {
  const { id } = await createActive();
  const allowed = await keyFor('Viewer', { projectId: second.id });
  const others = await keyFor('Viewer', { projectId: outer.id });
  const read = async (as: typeof allowed) => {
    const authorization = `Basic ${Buffer.from(`${as.id}:${as.secret}`).toString('base64')}`;
    const response = await app.app.inject({
      url: `/state/v1/environments/${id}`,
      headers: { authorization },
    });
    return response.statusCode;
  };
  assert.deepEqual([await read(allowed), await read(others)], [403, 403]);
  const body = { accessibleFromEntireOrganization: false, allowedProjectIds: [second.id] };
  await ok('setStateAccess', { params: { environmentId: id }, body });
  assert.deepEqual([await read(allowed), await read(others)], [200, 403]);
});

test('every built-in role has the rights of the weaker ones, and none is unknown', () => {
  const project = builtInRoles.project;
  const order = [
    builtInRoles.organization.User,
    project.Viewer,
    project.Planner,
    project.Deployer,
    project.Admin,
  ];
  for (const [index, weaker] of order.slice(0, -1).entries()) {
    const stronger: readonly string[] = order[index + 1] ?? [];
    assert.deepEqual(
      weaker.filter((right) => !stronger.includes(right)),
      [],
    );
  }
  assert.deepEqual([...rightsOfRole('project', 'constructor', null)], []);
  assert.deepEqual([...rightsOfRole('project', 'x', ['VIEW_PROJECT', 'FLY'])], ['VIEW_PROJECT']);
});
