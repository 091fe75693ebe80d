import assert from 'node:assert/strict';
import { test } from 'node:test';
import { duringTransaction } from '../../../testing/locks.ts';
import { startTests } from '../../../testing/start.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { Refusal } from '../../ground/errors.ts';
import { requireOtherAdmin } from './keep-an-admin.ts';

const { app, organizationId, projectId, call, ok, refused, sql, add } = await startTests();
const params = { id: organizationId };
const setRole = (userId: string, body: unknown, status = 200) =>
  status === 200
    ? ok('setMemberRole', { params: { ...params, userId }, body })
    : refused('setMemberRole', status, { params: { ...params, userId }, body });

const listed = async (query: Record<string, string> = {}) =>
  (await ok('listMembers', { params, query })).map(({ user, role, status }) => [user.user_id, role, status]);
const { id: elsewhere } = await ok('createOrganization', { body: { name: 'Elsewhere' } });
const outsider = await app.addKey({ [elsewhere]: 'User' });

test('members are people and keys, filtered by name and e-mail', async () => {
  const ada = await app.addKey({ [organizationId]: 'User' });
  const ben = await app.addKey({ [organizationId]: 'Admin' });
  await sql("update app_user set name = 'Ada Lovelace', email = 'ada@example.com' where id = $1", ada.id);
  await sql("update organization_member set status = 'Invited' where user_id = $1", ben.id);
  const admin = [app.admin.id, 'Admin', 'Active'];
  assert.deepEqual(await listed(), [[ben.id, 'Admin', 'Invited'], [ada.id, 'User', 'Active'], admin]);
  assert.deepEqual(await listed({ includeApiKeys: 'false' }), [
    [ben.id, 'Admin', 'Invited'],
    [ada.id, 'User', 'Active'],
  ]);
  for (const query of ['love', 'ADA@EXAMPLE.com', 'ada l'])
    assert.deepEqual(await listed({ query }), [[ada.id, 'User', 'Active']], query);
  assert.deepEqual(await listed({ query: 'nobody%' }), []);
  const [first] = await ok('listMembers', { params, query: { query: 'love' } });
  assert.equal(first?.user.email, 'ada@example.com');
  await sql('delete from organization_member where user_id = any($1)', [ada.id, ben.id]);
});

test('the role of a member is sent as plain text, as JSON, or without a type', async () => {
  const { id } = await app.addKey({ [organizationId]: 'User' });
  const remaining = await app.addKey({ [organizationId]: 'Admin' });
  const role = await add('Role', 'custom', { permissions: ['VIEW_PROJECT'] });
  const bodies: [string, string | undefined, string][] = [
    ['Admin', 'text/plain; charset=utf-8', 'Admin'],
    ['"User"', 'application/json', 'User'],
    ['"Admin"', 'text/plain', 'Admin'],
    [` ${role.id}\n`, undefined, role.id],
    ['User', 'application/json', 'User'],
  ];
  for (const [body, type, expected] of bodies) {
    const headers: Record<string, string> = type ? { 'content-type': type } : {};
    const userId = id;
    assert.equal(await ok('setMemberRole', { params: { ...params, userId }, body, headers }), null);
    assert.equal((await listed()).find(([user]) => user === id)?.[1], expected);
  }
  for (const body of ['Owner', '"', '{}', 'Viewer', 'null', 'x'.repeat(300), '']) {
    const { message } = await refused('setMemberRole', 400, { params: { ...params, userId: id }, body });
    assert.match(message, /^\/body/, body);
  }
  const rows = await sql(
    "select before, after from audit_event where action = 'user.roleChanged' and entity_id = $1 order by id",
    id,
  );
  assert.deepEqual(rows[0], { before: { role: 'User' }, after: { role: 'Admin' } });
  assert.equal(rows.length, bodies.length);
  await sql('delete from organization_member where user_id = $1', remaining.id);
});

test('a user who is not a member is not found', async () => {
  for (const userId of [outsider.id, 'nobody']) {
    await setRole(userId, 'User', 404);
    await refused('removeMember', 404, { params: { ...params, userId } });
  }
});

test('with a member, its roles and team memberships go, and nothing of other organizations', async () => {
  const member = await app.addKey({ [organizationId]: 'User', [elsewhere]: 'User' });
  const team = await add('Team', 'left');
  const other = await ok('createTeam', { body: { organizationId: elsewhere, name: 'kept' } });
  for (const { id } of [team, other]) await ok('updateTeam', { id, body: { userIds: [member.id] } });
  await ok('assignUserRole', { body: { userId: member.id, projectId, role: 'Admin' } });
  await ok('getProject', { id: projectId, as: member });
  const removed = await ok('removeMember', { params: { ...params, userId: member.id } });
  assert.deepEqual(removed, { id: member.id });
  await refused('getProject', 404, { id: projectId, as: member });
  assert.deepEqual((await ok('getTeam', { id: team.id })).users, []);
  assert.equal((await ok('getTeam', { id: other.id })).users?.length, 1);
  assert.deepEqual(await ok('listUserRoles', { query: { projectId } }), []);
  await sql(
    "insert into organization_member (organization_id, user_id, role) values ($1, $2, 'User')",
    organizationId,
    member.id,
  );
  await refused('getProject', 403, { id: projectId, as: member });
});

test('no one gains or takes away rights that they do not have', async () => {
  const manager = await app.addKey({ [organizationId]: ['EDIT_ORGANIZATION_SETTINGS', 'VIEW_ORGANIZATION'] });
  const user = await app.addKey({ [organizationId]: ['VIEW_ORGANIZATION'] });
  const admin = await app.addKey({ [organizationId]: 'Admin' });
  const asManager = (userId: string) => ({ params: { ...params, userId }, as: manager });
  for (const each of [manager, user]) {
    const input = { ...asManager(each.id), body: 'Admin' };
    await refused('setMemberRole', 403, /you lack CREATE_AND_EDIT/, input);
  }
  await refused('setMemberRole', 403, { ...asManager(admin.id), body: 'User' });
  await refused('removeMember', 403, asManager(admin.id));
  await ok('removeMember', asManager(user.id));
  await refused('removeMember', 404, { ...asManager(manager.id), as: outsider });
  await sql('delete from organization_member where user_id = $1', admin.id);
});

test('the rights of a member are those at the time of the removal, not before', async () => {
  const manager = await app.addKey({ [organizationId]: ['EDIT_ORGANIZATION_SETTINGS', 'VIEW_ORGANIZATION'] });
  const { id: userId } = await app.addKey({ [organizationId]: ['VIEW_ORGANIZATION'] });
  const promotion = "update organization_member set role = 'Admin' where user_id = $1";
  const input = { params: { ...params, userId }, as: manager };
  const { statusCode, body } = await duringTransaction(app.database, promotion, [userId], () =>
    call('removeMember', input),
  );
  assert.equal(statusCode, 403, body);
  assert.match(body, /Removing this member needs all rights of the role/);
  await sql('delete from organization_member where user_id = $1', userId);
});

test('the last admin is neither demoted nor removed', async () => {
  const { id: alone } = await ok('createOrganization', { body: { name: 'Alone' } });
  const of = (userId: string) => ({ params: { id: alone, userId } });
  const demote = (userId: string) => call('setMemberRole', { ...of(userId), body: 'User' });
  const remove = (userId: string) => call('removeMember', of(userId));
  const lastly = async (userId: string) => {
    for (const response of [await demote(userId), await remove(userId)]) {
      assert.equal(response.statusCode, 409, response.body);
      assert.match(response.body, /the last administrator of the organization/);
    }
  };
  await lastly(app.admin.id);
  await ok('setMemberRole', { ...of(app.admin.id), body: 'Admin' });
  const invited = await app.addKey({ [alone]: 'Admin' });
  await sql("update organization_member set status = 'Invited' where user_id = $1", invited.id);
  await lastly(app.admin.id);
  await sql("update organization_member set status = 'Active' where user_id = $1", invited.id);
  await lastly(invited.id);
  const person = await app.addKey({ [alone]: 'Admin' });
  await sql('update app_user set is_blocked = true where id = $1', person.id);
  await lastly(invited.id);
  assert.equal((await remove(person.id)).statusCode, 200, 'a blocked admin is not one any more');
});

test('of two last people demoted at once, one remains', async () => {
  const { id: pair } = await ok('createOrganization', { body: { name: 'Pair' } });
  const people = [await app.addKey({ [pair]: 'Admin' }), await app.addKey({ [pair]: 'Admin' })];
  const replies = await Promise.all(
    people.map(({ id: userId }) => call('setMemberRole', { params: { id: pair, userId }, body: 'User' })),
  );
  assert.deepEqual(replies.map(({ statusCode }) => statusCode).toSorted(), [200, 409]);
});

test('a key is an admin that suffices only where no person is one', async () => {
  const { id: keys } = await ok('createOrganization', { body: { name: 'Keys' } });
  const second = await app.addKey({ [keys]: 'Admin' });
  await sql('update app_user set is_api_key = true where id = $1', second.id);
  const leaves = (userId: string) =>
    inTransaction(app.context, (context) => requireOtherAdmin(context, keys, userId));
  await leaves(second.id);
  const person = await app.addKey({ [keys]: 'Admin' });
  await assert.rejects(leaves(person.id), Refusal);
  await leaves(second.id);
});
