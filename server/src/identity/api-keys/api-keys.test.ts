import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { fieldsOf } from '../../../testing/fields.ts';
import { duringTransaction } from '../../../testing/locks.ts';
import { startTests } from '../../../testing/start.ts';

const { app, organizationId, projectId, call, ok, refused, sql, add } = await startTests();
const create = (body: object = {}, as = app.admin) =>
  ok('createApiKey', { body: { organizationId, name: 'robot', ...body }, as });
const keyOf = (made: { apiKeyId: string; apiKeySecret: string }) => ({
  id: made.apiKeyId,
  secret: made.apiKeySecret,
});
const deny = (status: number, body: object, as = app.admin) =>
  refused('createApiKey', status, { body: { organizationId, name: 'robot', ...body }, as });

async function customRole(rights: readonly string[], organization = organizationId): Promise<string> {
  const id = app.context.newId();
  await sql(
    `insert into role (id, organization_id, name, permissions, created_by)
     values ($1::uuid, $2, $1::text, $3, 'test')`,
    id,
    organization,
    rights,
  );
  return id;
}

test('a key is an Admin by default, acts as a user of its own, and its secret is shown once', async () => {
  const made = await create({ description: 'for the pipeline' });
  assert.match(made.apiKeySecret, /^[\w-]{43}$/, '256 bits');
  const { apiKeySecret: _, ...shown } = made;
  assert.deepEqual(shown, {
    id: made.id,
    name: 'robot',
    description: 'for the pipeline',
    apiKeyId: made.id,
    lastUsedAt: null,
    organizationId,
    organizationRole: 'Admin',
    ownerId: null,
    createdAt: made.createdAt,
    createdBy: 'admin',
    createdByUser: made.createdByUser,
    expiresAt: null,
    networks: [],
    secrets: [{ id: made.secrets[0]?.id, createdAt: made.createdAt, lastUsedAt: null }],
  });
  assert.equal(made.createdByUser?.user_id, 'admin');
  const project = await ok('createProject', { body: { organizationId, name: 'by key' }, as: keyOf(made) });
  assert.equal(project.createdBy, made.id);
  assert.deepEqual(project.createdByUser?.app_metadata, { isApiKey: true, createdBy: 'admin' });
  const [listed] = await ok('listApiKeys', { query: { organizationId } });
  assert.ok(listed?.lastUsedAt);
  assert.equal(listed.secrets[0]?.lastUsedAt, listed.lastUsedAt);
  assert.deepEqual({ ...listed, lastUsedAt: null, secrets: shown.secrets }, shown);
  assert.deepEqual(await ok('getApiKey', { id: made.id }), listed);
  const rows = await sql(
    'select row_to_json(k)::text || (select string_agg(row_to_json(a)::text, $1) from audit_event a) as text from api_key k where id = $2',
    '',
    made.id,
  );
  assert.ok(!(rows[0] as { text: string }).text.includes(made.apiKeySecret));
});

test('roles in the organization and in projects round-trip and hold', async () => {
  const role = await customRole(['VIEW_ORGANIZATION', 'VIEW_PROJECT']);
  const custom = await create({ permissions: { organizationRole: role } });
  assert.equal(custom.organizationRole, role);
  assert.equal((await ok('getApiKey', { id: custom.id })).organizationRole, role);
  await ok('getProject', { id: projectId, as: keyOf(custom) });
  await refused('updateProject', 403, { id: projectId, body: { name: 'x' }, as: keyOf(custom) });
  const second = await add('Project', 'second');
  const user = await create({
    permissions: {
      organizationRole: 'User',
      projectsPermissions: [{ projectId: second.id, projectRole: 'Viewer' }],
    },
  });
  assert.equal(user.organizationRole, 'User');
  const projects = await ok('listProjects', { as: keyOf(user) });
  assert.deepEqual(fieldsOf(projects, 'id', 'role'), [[second.id, 'Viewer']]);
});

test('no one can give a key rights beyond their own', async () => {
  const role = await customRole(['VIEW_ORGANIZATION', 'EDIT_ORGANIZATION_SETTINGS', 'VIEW_PROJECT']);
  const manager = keyOf(await create({ permissions: { organizationRole: role } }));
  assert.match((await deny(403, {}, manager)).message, /organizationRole needs all rights of the role/);
  const projectsPermissions = [{ projectId, projectRole: 'Deployer' }];
  const inProject = { permissions: { organizationRole: role, projectsPermissions } };
  assert.match(
    (await deny(403, inProject, manager)).message,
    /projectsPermissions\/0\/projectRole needs all rights of the role/,
  );
  const made = await create({ permissions: { organizationRole: role } }, manager);
  await ok('updateApiKey', { id: made.id, body: { name: 'renamed' }, as: manager });
  const strong = await create();
  const as = manager;
  await refused('addApiKeySecret', 403, /rights that you do not have/, { id: strong.id, as });
  await refused('updateApiKey', 403, { id: strong.id, body: { expiresAt: null }, as });
  await sql('update organization_member set role = $1 where user_id = $2', 'User', strong.id);
  await sql(
    `insert into role_assignment (id, organization_id, user_id, project_id, role, created_by)
     values ($1, $2, $3, $4, 'Admin', 'test')`,
    app.context.newId(),
    organizationId,
    strong.id,
    projectId,
  );
  await refused('addApiKeySecret', 403, { id: strong.id, as });
  assert.equal((await ok('getApiKey', { id: strong.id })).secrets.length, 1);
  const user = await app.addKey({ [organizationId]: 'User' });
  assert.match((await deny(403, {}, user)).message, /EDIT_ORGANIZATION_SETTINGS/);
});

test('a key that gets more rights at the same time is judged by these', async () => {
  const role = await customRole(['VIEW_ORGANIZATION', 'EDIT_ORGANIZATION_SETTINGS']);
  const as = keyOf(await create({ permissions: { organizationRole: role } }));
  const promotion = "update organization_member set role = 'Admin' where user_id = $1";
  for (const [name, more] of [
    ['addApiKeySecret', {}],
    ['deleteApiKeySecret', {}],
    ['updateApiKey', { body: { expiresAt: null } }],
  ] as const) {
    const { id } = await create({ permissions: { organizationRole: role } });
    const { id: secretId } = await ok('addApiKeySecret', { id });
    if (name === 'addApiKeySecret') await ok('deleteApiKeySecret', { params: { id, secretId } });
    const params: Record<string, string> = name === 'deleteApiKeySecret' ? { id, secretId } : { id };
    const { statusCode, body } = await duringTransaction(app.database, promotion, [id], () =>
      call(name, { params, as, ...more }),
    );
    assert.equal(statusCode, 403, `${name}: ${body}`);
    assert.match(body, /rights that you do not have/);
  }
});

test('what a body names must exist in the organization', async () => {
  const other = await ok('createOrganization', { body: { name: 'Elsewhere' } });
  const [foreign] = await ok('listProjects', { query: { organizationId: other.id } });
  const foreignRole = await customRole(['VIEW_PROJECT'], other.id);
  const outsider = await app.addKey({ [other.id]: 'Admin' });
  const robot = await create();
  const permissions = (organizationRole: string, ...projects: [string, string][]) => ({
    permissions: {
      organizationRole,
      projectsPermissions: projects.map(([id, projectRole]) => ({ projectId: id, projectRole })),
    },
  });
  const bad: [object, RegExp][] = [
    [permissions('Deployer'), /organizationRole must be one of/],
    [permissions('constructor'), /organizationRole must be one of/],
    [permissions(randomUUID()), /organizationRole must be one of/],
    [permissions(foreignRole), /organizationRole must be one of/],
    [permissions('User', [foreign?.id ?? '', 'Viewer']), /0\/projectId does not match any project/],
    [permissions('User', ['no-uuid', 'Viewer']), /0\/projectId does not match any project/],
    [permissions('User', [projectId, 'User']), /0\/projectRole must be one of/],
    [permissions('User', [projectId, foreignRole]), /0\/projectRole must be one of/],
    [permissions('User', [projectId, 'Viewer'], [projectId, 'Admin']), /1\/projectId is named twice/],
    [{ ownerId: outsider.id }, /ownerId does not match/],
    [{ ownerId: robot.id }, /ownerId does not match/],
    [{ ownerId: 'nobody' }, /ownerId does not match/],
    [{ expiresAt: '2020-01-01T00:00:00Z' }, /expiresAt must be in the future/],
    [{ expiresAt: 'tomorrow' }, /expiresAt/],
    [{ networks: ['10.0.0.0/8', '10.0.0.0/40'] }, /networks\/1 .*0 to 32/],
    [{ networks: 'all' }, /networks/],
    [{ name: ' ' }, /name/],
    [{ role: 'Admin' }, /role/],
  ];
  const before = (await ok('listApiKeys', { query: { organizationId } })).length;
  for (const [body, message] of bad)
    assert.match((await deny(400, body)).message, message, JSON.stringify(body));
  assert.equal((await ok('listApiKeys', { query: { organizationId } })).length, before);
  const theirs = await ok('createApiKey', { body: { organizationId: other.id, name: 'theirs' } });
  const ours = await app.addKey({ [organizationId]: 'Admin' });
  for (const name of ['getApiKey', 'deleteApiKey', 'addApiKeySecret'] as const)
    await refused(name, 404, { id: theirs.id, as: ours });
  await refused('updateApiKey', 404, { id: theirs.id, body: { name: 'x' }, as: ours });
  await refused('deleteApiKeySecret', 404, {
    params: { id: theirs.id, secretId: theirs.secrets[0]?.id ?? '' },
    as: ours,
  });
});

test('a key is renamed with its user, and has a person as its owner', async () => {
  const made = await create();
  const person = await app.addKey({ [organizationId]: 'User' });
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const body = {
    name: 'new name',
    description: 'd',
    ownerId: person.id,
    expiresAt,
    networks: ['127.0.0.0/8'],
  };
  const params = { id: made.id };
  const updated = await ok('updateApiKey', { params, body });
  for (const [field, value] of Object.entries(body))
    assert.deepEqual(updated[field as keyof typeof body], value, field);
  const organization = await ok('createProject', { body: { organizationId, name: 'p' }, as: keyOf(made) });
  assert.equal(organization.createdByUser?.name, 'new name');
  const rows = await sql(
    "select before, after from audit_event where entity_id = $1 and action = 'apiKey.updated'",
    made.id,
  );
  assert.deepEqual((rows[0] as { before: unknown }).before, {
    name: 'robot',
    description: '',
    ownerId: null,
    expiresAt: null,
    networks: [],
  });
  const cleared = await ok('updateApiKey', {
    params,
    body: { ownerId: null, expiresAt: null, networks: [], description: '' },
  });
  assert.deepEqual(
    [cleared.ownerId, cleared.expiresAt, cleared.networks, cleared.description],
    [null, null, [], ''],
  );
  assert.deepEqual(await ok('updateApiKey', { params, body: {} }), {
    ...cleared,
    ...(await ok('getApiKey', { params })),
  });
});

test('a deleted key is refused at once, and what it held has ended; its user remains for what it did', async () => {
  const made = await create({
    permissions: { organizationRole: 'User', projectsPermissions: [{ projectId, projectRole: 'Admin' }] },
  });
  const teamId = app.context.newId();
  await sql(
    "insert into team (id, organization_id, name, created_by) values ($1, $2, 'keys', $3)",
    teamId,
    organizationId,
    'test',
  );
  await sql('insert into team_member (team_id, user_id) values ($1, $2)', teamId, made.id);
  const sub = await ok('createProject', {
    body: { organizationId, name: 'sub', parentProjectId: projectId },
    as: keyOf(made),
  });
  assert.deepEqual(await ok('deleteApiKey', { id: made.id }), { id: made.id });
  assert.equal((await call('listProjects', { as: keyOf(made) })).statusCode, 401);
  await refused('deleteApiKey', 404, { id: made.id });
  const listed = await ok('listApiKeys', { query: { organizationId } });
  assert.ok(!listed.some(({ id }) => id === made.id));
  const rows = await sql(
    `select (select count(*) from role_assignment where user_id = $1)::int as roles,
      (select count(*) from team_member where user_id = $1)::int as teams,
      (select count(*) from organization_member where user_id = $1)::int as memberships`,
    made.id,
  );
  assert.deepEqual(rows, [{ roles: 0, teams: 0, memberships: 0 }]);
  assert.equal((await ok('getProject', { id: sub.id })).createdByUser?.name, 'robot');
});

test('the last Admin of an organization is not deleted', async () => {
  const { id } = await ok('createOrganization', { body: { name: 'Alone' } });
  const last = await ok('createApiKey', { body: { organizationId: id, name: 'last' } });
  await sql(
    "update organization_member set role = 'User' where organization_id = $1 and user_id = 'admin'",
    id,
  );
  const as = keyOf(last);
  await refused('deleteApiKey', 409, /last administrator/, { id: last.id, as });
  const next = await ok('createApiKey', { body: { organizationId: id, name: 'next' }, as });
  await ok('deleteApiKey', { id: last.id, as: keyOf(next) });
});

test('every change of keys is in the audit trail', async () => {
  const made = await create();
  const params = { id: made.id };
  const { id: secretId } = await ok('addApiKeySecret', { params });
  await ok('updateApiKey', { params, body: { name: 'audited' } });
  await ok('deleteApiKeySecret', { params: { ...params, secretId } });
  await ok('deleteApiKey', { params });
  const rows = await sql(
    'select action, actor_id, organization_id from audit_event where entity_id = $1 order by number',
    made.id,
  );
  assert.deepEqual(
    rows,
    ['created', 'secretAdded', 'updated', 'secretDeleted', 'deleted'].map((action) => ({
      action: `apiKey.${action}`,
      actor_id: 'admin',
      organization_id: organizationId,
    })),
  );
});
