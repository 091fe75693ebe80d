import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { Right } from '#contract/schema/enumerations.ts';
import { fieldsOf } from '../../../testing/fields.ts';
import { startTests } from '../../../testing/start.ts';
import { defaultRoleOf } from '../../rows/roles/role-store.ts';

const { app, organizationId, projectId, call, ok, refused, sql, add, createIdle } = await startTests();
const create = (name: string, permissions: readonly Right[], more: object = {}) =>
  add('Role', name, { permissions, ...more });
const update = (id: string, body: object) => ok('updateRole', { id, body });

const { id: elsewhere } = await ok('createOrganization', { body: { name: 'Elsewhere' } });

test('a custom role is a list of rights, whose order is kept', async () => {
  const permissions: Right[] = ['RUN_PLAN', 'VIEW_PROJECT', 'ABORT_DEPLOYMENT', 'VIEW_ENVIRONMENT'];
  const role = await create('planners', permissions);
  assert.deepEqual(role, {
    id: role.id,
    organizationId,
    name: 'planners',
    permissions,
    isDefaultRole: false,
  });
  assert.deepEqual(await ok('getRole', { id: role.id }), role);
  const turned = permissions.toReversed();
  assert.deepEqual((await update(role.id, { permissions: turned })).permissions, turned);
  assert.equal((await update(role.id, { name: 'plan' })).name, 'plan');
  const newer = await create('newer', []);
  const listed = await ok('listRoles', { query: { organizationId } });
  assert.deepEqual(fieldsOf(listed, 'id', 'name'), [
    [newer.id, 'newer'],
    [role.id, 'plan'],
  ]);
  assert.deepEqual(await ok('listRoles', { query: { organizationId: elsewhere } }), []);
  for (const { id } of listed) await ok('deleteRole', { id });
  await refused('getRole', 404, { id: role.id });
  await refused('deleteRole', 404, { id: role.id });
});

test('an unknown right is refused by name, and a right that is there twice', async () => {
  const body = { organizationId, name: 'odd', permissions: ['VIEW_PROJECT', 'FLY'] };
  await refused('createRole', 400, /^\/body\/permissions\/1 is "FLY", which is not a right/, { body });
  const { id } = await create('even', ['VIEW_PROJECT']);
  for (const permissions of [
    ['constructor'],
    ['view_project'],
    [''],
    ['VIEW_PROJECT', 'VIEW_PROJECT'],
    [1],
    'x',
  ])
    await refused('updateRole', 400, /^\/body\/permissions/, { id, body: { permissions } });
  assert.deepEqual((await ok('getRole', { id })).permissions, ['VIEW_PROJECT']);
});

test('a name is unique in an organization, and no built-in one', async () => {
  await create('once', []);
  const other = await create('other', []);
  for (const name of ['once', 'Admin', 'Planner']) {
    const body = { organizationId, name, permissions: [] };
    await refused('createRole', 409, new RegExp(`"${name}"`), { body });
    await refused('updateRole', 409, { id: other.id, body: { name } });
  }
  await ok('createRole', { body: { organizationId: elsewhere, name: 'once', permissions: [] } });
  const replies = await Promise.all(
    Array.from({ length: 4 }, () =>
      call('createRole', { body: { organizationId, name: 'at once', permissions: [] } }),
    ),
  );
  assert.deepEqual(replies.map(({ statusCode }) => statusCode).toSorted(), [200, 409, 409, 409]);
});

test('one role at most is the default one', async () => {
  assert.equal(await defaultRoleOf(app.context.db, organizationId), 'User');
  const first = await create('first default', ['VIEW_ORGANIZATION'], { isDefaultRole: true });
  assert.equal(await defaultRoleOf(app.context.db, organizationId), first.id);
  const second = await create('second default', []);
  await update(second.id, { isDefaultRole: true });
  assert.equal((await ok('getRole', { id: first.id })).isDefaultRole, false);
  assert.equal(await defaultRoleOf(app.context.db, organizationId), second.id);
  const maker = await app.addKey({ [organizationId]: ['CREATE_CUSTOM_ROLES', 'VIEW_ORGANIZATION'] });
  const strong = await create('strong default', ['RUN_APPLY'], { isDefaultRole: true });
  const body = { organizationId, name: 'weak default', permissions: [], isDefaultRole: true };
  const input = { id: first.id, body: { isDefaultRole: true }, as: maker };
  for (const { message } of [
    await refused('createRole', 403, { body, as: maker }),
    await refused('updateRole', 403, input),
  ])
    assert.match(message, /^Replacing the default role "strong default" needs all rights.*RUN_APPLY/);
  assert.equal(await defaultRoleOf(app.context.db, organizationId), strong.id);
  await update(second.id, { isDefaultRole: true });
  assert.equal((await ok('updateRole', input)).isDefaultRole, true);
  await update(first.id, { isDefaultRole: false });
  assert.equal(await defaultRoleOf(app.context.db, organizationId), 'User');
});

test('no one gains rights by making or changing a role', async () => {
  const maker = await app.addKey({
    [organizationId]: ['CREATE_CUSTOM_ROLES', 'VIEW_ORGANIZATION', 'RUN_PLAN'],
  });
  const body = { organizationId, name: 'more', permissions: ['RUN_PLAN', 'RUN_APPLY'] };
  await refused('createRole', 403, /^\/body\/permissions needs all rights of the role; you lack RUN_APPLY$/, {
    body,
    as: maker,
  });
  const own = await ok('createRole', { body: { ...body, permissions: ['RUN_PLAN'] }, as: maker });
  const params = { id: own.id };
  await refused('updateRole', 403, { params, body: { permissions: ['WRITE_STATE'] }, as: maker });
  const strong = await create('strong', ['RUN_PLAN', 'RUN_APPLY']);
  const weaker = { id: strong.id, body: { permissions: ['RUN_PLAN'] }, as: maker };
  await refused('updateRole', 403, /"strong".*RUN_APPLY/, weaker);
  const none = await app.addKey({ [organizationId]: 'User' });
  await refused('createRole', 403, /CREATE_CUSTOM_ROLES/, { body, as: none });
});

test('a role in use is not deleted, and its users are named', async () => {
  const role = await create('used', ['VIEW_ENVIRONMENT']);
  const params = { id: role.id };
  const environment = await createIdle({ name: 'network' });
  const member = await app.addKey({ [organizationId]: role.id });
  const team = await add('Team', 'operators');
  const inProject = { teamId: team.id, projectId, role: role.id };
  await ok('assignTeamRole', { body: inProject });
  const inEnvironment = { userId: app.admin.id, environmentId: environment.id, role: role.id };
  await ok('assignUserRole', { body: inEnvironment });
  const { message } = await refused('deleteRole', 409, { params });
  assert.equal(
    message,
    `The role "used" is in use: give another one to "${member.id}" in the organization, ` +
      'team "operators" in project "Default", "First admin key" in environment "network"',
  );
  await ok('assignTeamRole', { body: { ...inProject, role: 'Viewer' } });
  await ok('assignUserRole', { body: { ...inEnvironment, role: 'Viewer' } });
  await refused('deleteRole', 409, { params });
  await ok('setMemberRole', { params: { id: organizationId, userId: member.id }, body: 'User' });
  await ok('deleteRole', { params });
  const gone = { ...inProject, role: role.id };
  await refused('assignTeamRole', 400, /\/body\/role/, { body: gone });
});

test('of a role that is deleted and assigned at once, nothing dangles', async () => {
  for (let round = 0; round < 5; round++) {
    const role = await create('raced', ['VIEW_PROJECT']);
    const member = await app.addKey({ [organizationId]: 'User' });
    const [deleted, assigned] = await Promise.all([
      call('deleteRole', { id: role.id }),
      call('setMemberRole', { params: { id: organizationId, userId: member.id }, body: role.id }),
    ]);
    assert.deepEqual(
      [deleted.statusCode, assigned.statusCode],
      deleted.statusCode === 200 ? [200, 400] : [409, 200],
    );
    if (deleted.statusCode === 200) continue;
    await ok('setMemberRole', { params: { id: organizationId, userId: member.id }, body: 'User' });
    await ok('deleteRole', { id: role.id });
  }
});

test('what happens to roles is audited', async () => {
  const role = await create('audited', ['VIEW_PROJECT']);
  await update(role.id, { permissions: ['RUN_PLAN'] });
  await ok('deleteRole', { id: role.id });
  const rows = await sql(
    'select action, before, after from audit_event where entity_id = $1 order by id',
    role.id,
  );
  assert.deepEqual(rows, [
    {
      action: 'role.created',
      before: null,
      after: { name: 'audited', permissions: ['VIEW_PROJECT'], isDefaultRole: false },
    },
    {
      action: 'role.updated',
      before: { permissions: ['VIEW_PROJECT'] },
      after: { permissions: ['RUN_PLAN'] },
    },
    {
      action: 'role.deleted',
      before: { name: 'audited', permissions: ['RUN_PLAN'], isDefaultRole: false },
      after: null,
    },
  ]);
});

test('a role of another organization is as unknown as one that does not exist', async () => {
  const foreign = await ok('createRole', {
    body: { organizationId: elsewhere, name: 'foreign', permissions: [] },
  });
  for (const role of [foreign.id, randomUUID(), 'Owner', 'constructor'])
    for (const [name, input] of [
      ['assignUserRole', { body: { userId: app.admin.id, projectId, role } }],
      ['addProjectPermission', { params: { projectId }, body: { userId: app.admin.id, role } }],
      ['setMemberRole', { params: { id: organizationId, userId: app.admin.id }, body: role }],
    ] as const)
      await refused(name, 400, /^\/body(\/role)? must be one of/, input);
});

test('people who are invited without a role have the default one', async () => {
  const invite = (email: string) =>
    ok('createInvitation', { body: { organizationId, email } }).then(({ permissions }) => permissions);
  assert.deepEqual(await invite('plain@example.com'), { organizationRole: 'User' });
  const role = await create('for everybody', ['VIEW_ORGANIZATION'], { isDefaultRole: true });
  assert.deepEqual(await invite('custom@example.com'), { organizationRole: role.id });
  await refused('deleteRole', 409, /"custom@example.com" in the organization/, { id: role.id });
});
