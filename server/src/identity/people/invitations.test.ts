import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ErrorBody } from '#contract/schema/errors.ts';
import { testApp } from '../../../testing/app.ts';
import { type CallInput, ok } from '../../../testing/client.ts';
import { fieldOf } from '../../../testing/fields.ts';
import { duringTransaction } from '../../../testing/locks.ts';
import { addPerson, goodPassword, TestBrowser } from '../../../testing/person.ts';
import { startTests } from '../../../testing/start.ts';

const { app, organizationId, projectId, call, refused, sql } = await startTests();

let number = 0;
const freshEmail = () => `person-${++number}@example.com`;

async function invite(body: object = {}, more: CallInput = {}) {
  const invitation = await ok(app, 'createInvitation', {
    ...more,
    body: { email: freshEmail(), organizationId, ...body },
  });
  return { ...invitation, token: invitation.link?.split('#')[1] ?? '' };
}

const accept = (token: string, body: object = {}) => ({
  as: null,
  body: { token, name: 'Grace Hopper', password: goodPassword, ...body },
});

async function membersOf(userId: string): Promise<{ role: string; status: string }[]> {
  const rows = await sql<{ role: string; status: string }>(
    'select role, status from organization_member where user_id = $1 and organization_id = $2',
    userId,
    organizationId,
  );
  return rows;
}

test('an invited person sets name and password by the link, and has the roles of the invitation', async () => {
  const permissions = {
    organizationRole: 'User',
    projectsPermissions: [{ projectId, projectRole: 'Deployer' }],
  };
  const { id, email, link, token, userId, ...invitation } = await invite({ permissions });
  assert.match(link ?? '', new RegExp(`^http://[^/]+/invitation#${id}\\.[A-Za-z0-9_-]{43}$`));
  assert.deepEqual([invitation.status, invitation.permissions], ['Pending', permissions]);
  assert.deepEqual(await membersOf(userId), [{ role: 'User', status: 'Invited' }]);
  const preview = await ok(app, 'previewInvitation', { as: null, body: { token } });
  assert.deepEqual([preview.email, preview.organizationName, preview.hasAccount], [email, 'Envarium', false]);
  const signedIn = await ok(app, 'acceptInvitation', accept(token));
  assert.equal(signedIn.userId, userId);
  assert.deepEqual(await membersOf(userId), [{ role: 'User', status: 'Active' }]);
  const browser = new TestBrowser(app);
  await browser.signIn(email.toUpperCase());
  const projects = (await browser.send('GET', '/api/projects')).json<{ id: string }[]>();
  assert.deepEqual(fieldOf(projects, 'id'), [projectId]);
  const [listed] = await ok(app, 'listInvitations', { query: { organizationId } });
  assert.deepEqual([listed?.id, listed?.status, listed?.link], [id, 'Accepted', undefined]);
});

test('no one can sign in as an invited person before the invitation is accepted', async () => {
  const { email } = await invite();
  for (const password of ['', goodPassword])
    await refused('signIn', 401, { as: null, body: { email, password } });
});

test('a used, expired or revoked invitation is a 410, an unknown one a 404', async () => {
  const used = await invite();
  await ok(app, 'acceptInvitation', accept(used.token));
  const revoked = await invite();
  await ok(app, 'deleteInvitation', { id: revoked.id });
  assert.deepEqual(await membersOf(revoked.userId), []);
  const expired = await invite();
  app.advance(7 * 86_400 + 1);
  const reasons: [string, RegExp, number][] = [
    [used.token, /accepted already/, 410],
    [revoked.token, /revoked/, 410],
    [expired.token, /expired/, 410],
    [`${expired.id}.wrong`, /No invitation/, 404],
    [expired.id, /No invitation/, 404],
    ['x', /No invitation/, 404],
  ];
  for (const [token, reason, status] of reasons) {
    await refused('acceptInvitation', status, reason, accept(token));
    await refused('previewInvitation', status, reason, { as: null, body: { token } });
    await refused('joinOrganization', status, reason, { body: { token } });
  }
  const listed = await ok(app, 'listInvitations', { query: { organizationId } });
  assert.deepEqual(
    [expired, revoked, used].map(({ id }) => listed.find((each) => each.id === id)?.status),
    ['Expired', undefined, 'Accepted'],
  );
  for (const { id } of [used, revoked]) {
    await refused('resendInvitation', 410, { id });
    await refused('deleteInvitation', 410, { id });
  }
});

test('a renewed invitation has another link, and the one before is no longer accepted', async () => {
  const { id, token } = await invite();
  app.advance(8 * 86_400);
  const renewed = await ok(app, 'resendInvitation', { id });
  assert.equal(renewed.status, 'Pending');
  await refused('acceptInvitation', 404, accept(token));
  await ok(app, 'acceptInvitation', accept(renewed.link?.split('#')[1] ?? ''));
});

test('two who use one link at once make one account', async () => {
  const { token } = await invite();
  const answers = await Promise.all(
    ['Ada', 'Bob'].map((name) =>
      app.app.inject({
        method: 'POST',
        url: '/api/invites/accept',
        payload: JSON.stringify({ token, name, password: goodPassword }),
      }),
    ),
  );
  const statuses = answers.map(({ statusCode }) => statusCode).toSorted();
  assert.equal(statuses[0], 200);
  assert.ok([409, 410].includes(statuses[1] ?? 0), String(statuses));
});

test('a weak password is refused, and the link remains usable', async () => {
  const { token } = await invite();
  await refused(
    'acceptInvitation',
    400,
    /\/body\/password is too weak/,
    accept(token, { password: 'short' }),
  );
  await ok(app, 'acceptInvitation', accept(token));
});

test('a person who has an account joins by signing in; no one else can use the link', async () => {
  const email = freshEmail();
  const userId = await addPerson(app, email);
  const { token } = await invite({ email: email.toUpperCase() });
  assert.deepEqual((await ok(app, 'previewInvitation', { as: null, body: { token } })).hasAccount, true);
  await refused('acceptInvitation', 409, /has an account/, accept(token));
  await refused('joinOrganization', 403, /is for/, { body: { token } });
  const browser = new TestBrowser(app);
  await browser.signIn(email);
  const before = await browser.send('GET', '/api/organizations');
  assert.deepEqual(before.json(), [], 'an invitation gives no right before it is accepted');
  assert.equal((await browser.send('POST', '/api/invites/join', { token })).statusCode, 200);
  assert.deepEqual(await membersOf(userId), [{ role: 'User', status: 'Active' }]);
});

test('members and people who are invited already are a 409', async () => {
  const { email, token } = await invite();
  const again = { body: { email: email.toUpperCase(), organizationId } };
  await refused('createInvitation', 409, /invited already/, again);
  await ok(app, 'acceptInvitation', accept(token));
  await refused('createInvitation', 409, /member/, again);
});

test('roles and projects of others, and rights that the inviter lacks, are refused by name', async () => {
  const other = await ok(app, 'createOrganization', { body: { name: 'Other' } });
  const [foreign] = await ok(app, 'listProjects', { query: { organizationId: other.id } });
  const wrong: [object, RegExp][] = [
    [{ organizationRole: 'Emperor' }, /\/body\/permissions\/organizationRole must be one of/],
    [{ organizationRole: app.projectId }, /organizationRole must be one of/],
    [
      { organizationRole: 'User', projectsPermissions: [{ projectId: foreign?.id, projectRole: 'Viewer' }] },
      /projectsPermissions\/0\/projectId does not match any project/,
    ],
    [
      { organizationRole: 'User', projectsPermissions: [{ projectId, projectRole: 'User' }] },
      /projectsPermissions\/0\/projectRole must be one of/,
    ],
    [{ organizationRole: 'User', projectsPermissions: [{ projectId }] }, /projectRole is required/],
  ];
  for (const [permissions, message] of wrong)
    await refused('createInvitation', 400, message, {
      body: { email: freshEmail(), organizationId, permissions },
    });
  const editor = await app.addKey({ [organizationId]: ['EDIT_ORGANIZATION_SETTINGS', 'VIEW_ORGANIZATION'] });
  const grant = (permissions: object) => ({
    as: editor,
    body: { email: freshEmail(), organizationId, permissions },
  });
  assert.match(
    (await refused('createInvitation', 403, grant({ organizationRole: 'Admin' }))).message,
    /organizationRole needs all rights of the role; you lack CREATE_AND_EDIT_TEMPLATES/,
  );
  for (const email of ['', 'x', 'a b@c', 'a@b\n', `${'a'.repeat(250)}@b.example`])
    await refused('createInvitation', 400, /\/body\/email/, { body: { email, organizationId } });
});

test('the operator creates the first administrator with a password or a link, and no one else can', async () => {
  const email = freshEmail();
  const made = await ok(app, 'createAdmin', { body: { email, name: 'Root', password: goodPassword } });
  assert.deepEqual([made.organizationId, made.invitation], [organizationId, undefined]);
  const browser = new TestBrowser(app);
  await browser.signIn(email);
  assert.equal((await browser.send('GET', '/api/tokens?organizationId=' + organizationId)).statusCode, 200);
  const another = freshEmail();
  const byLink = await ok(app, 'createAdmin', { body: { email: another } });
  const token = byLink.invitation?.link?.split('#')[1] ?? '';
  await ok(app, 'acceptInvitation', accept(token));
  assert.deepEqual(await membersOf(byLink.userId), [{ role: 'Admin', status: 'Active' }]);
  const adminKey = await app.addKey({ [organizationId]: 'Admin' });
  const body = { email: freshEmail() };
  await refused('createAdmin', 403, /first key/, { as: adminKey, body });
  assert.equal((await browser.send('POST', '/api/users/admins', body)).statusCode, 403);
  await refused('createAdmin', 400, { body: { ...body, password: 'weak' } });
  await refused('createAdmin', 409, { body: { email, password: goodPassword } });
});

test('a removed person loses roles, teams and membership at once; the last administrator stays', async () => {
  const { email, token, userId } = await invite({
    permissions: { organizationRole: 'Admin', projectsPermissions: [{ projectId, projectRole: 'Admin' }] },
  });
  await ok(app, 'acceptInvitation', accept(token));
  const browser = new TestBrowser(app);
  await browser.signIn(email);
  assert.equal((await browser.send('GET', `/api/organizations/${organizationId}`)).statusCode, 200);
  await ok(app, 'removeMember', { params: { id: organizationId, userId } });
  assert.equal((await browser.send('GET', `/api/organizations/${organizationId}`)).statusCode, 404);
  const rows = await sql('select 1 from role_assignment where user_id = $1', userId);
  assert.equal(rows.length, 0);
  await refused('removeMember', 404, { params: { id: organizationId, userId } });
  const own = await ok(app, 'createOrganization', { body: { name: 'Lonely' } });
  await refused('removeMember', 409, /last administrator of the organization "Lonely"/, {
    params: { id: own.id, userId: 'admin' },
  });
});

test('of two administrators who remove each other at once, one remains', async () => {
  const keys = await Promise.all([app.addKey(), app.addKey()]);
  const [one, other] = keys;
  const { id } = await ok(app, 'createOrganization', { body: { name: 'Pair' }, as: one });
  await sql(
    "insert into organization_member (organization_id, user_id, role) values ($1, $2, 'Admin')",
    id,
    other.id,
  );
  const remove = (as: typeof one, userId: string) =>
    refusedOrOk('removeMember', { params: { id, userId }, as });
  await Promise.all([remove(one, other.id), remove(other, one.id)]);
  const rows = await sql('select 1 from organization_member where organization_id = $1', id);
  assert.equal(rows.length, 1);
});

async function refusedOrOk(name: 'removeMember', input: CallInput): Promise<void> {
  const { statusCode } = await call(name, input);
  assert.ok([200, 403, 404, 409].includes(statusCode), String(statusCode));
}

test('with an account its sessions, keys, password and name are gone, and a pseudonym remains', async () => {
  const { email, token, userId } = await invite();
  await ok(app, 'acceptInvitation', accept(token));
  const browser = new TestBrowser(app);
  await browser.signIn(email);
  const admin = await app.addKey({ [organizationId]: 'Admin' });
  await refused('deleteUser', 404, { id: userId, as: admin });
  const key = await app.addKey();
  await sql('update api_key set user_id = $1 where id = $2', userId, key.id);
  assert.equal((await ok(app, 'getCurrentUser', { as: key })).user.user_id, userId);
  const response = await browser.send('DELETE', '/api/users/me');
  assert.deepEqual([response.statusCode, response.json()], [200, { id: userId }]);
  assert.equal((await browser.send('GET', '/api/users/me')).statusCode, 401);
  await refused('getCurrentUser', 401, { as: key });
  await refused('signIn', 401, { as: null, body: { email, password: goodPassword } });
  const rows = await sql<{ name: string; text: string }>(
    `select name, u::text as text from app_user u where id = $1`,
    userId,
  );
  assert.match(rows[0]?.name ?? '', /^Former user [0-9a-f]{8}$/);
  assert.ok(!rows[0]?.text.includes(email));
  const trail = await sql(
    "select organization_id from audit_event where action = 'user.removed' and entity_id = $1",
    userId,
  );
  assert.deepEqual(trail, [{ organization_id: organizationId }]);
  await invite({ email });
  await refused('deleteCurrentUser', 409, /first key of the installation/);
});

test('the last administrator cannot delete the account', async () => {
  const { email, token, userId } = await invite();
  await ok(app, 'acceptInvitation', accept(token));
  const browser = new TestBrowser(app);
  await browser.signIn(email);
  const made = await browser.send('POST', '/api/organizations', { name: 'Mine' });
  assert.equal(made.statusCode, 200);
  const response = await browser.send('DELETE', '/api/users/me');
  assert.equal(response.statusCode, 409);
  assert.match(response.json<ErrorBody>().message, /"Mine"/);
  await refused('deleteUser', 409, { id: userId });
});

test('tokens of invitations are in no log, no audit entry and no table', async () => {
  const quiet = await testApp({ ENVARIUM_LOG_LEVEL: 'trace' });
  const { link = '' } = await ok(quiet, 'createInvitation', {
    body: { email: 'a@example.com', organizationId: quiet.organizationId },
  });
  const secret = link.split('.').at(-1) ?? '';
  await ok(quiet, 'previewInvitation', { as: null, body: { token: link.split('#')[1] } });
  const { rows } = await quiet.database.pool.query<{ text: string }>(
    'select i::text as text from invitation i union all select a::text from audit_event a',
  );
  assert.ok(
    secret.length === 43 &&
      !`${rows.map(({ text }) => text).join('')}${quiet.logged.join('')}`.includes(secret),
  );
});

test('roles that change at the same time count: of invited users, and of the role that is granted', async () => {
  const rights = ['EDIT_ORGANIZATION_SETTINGS', 'VIEW_ORGANIZATION'] as const;
  const manager = await app.addKey({ [organizationId]: [...rights] });
  const role = { organizationId, name: 'growing', permissions: ['VIEW_ORGANIZATION'] };
  const { id: roleId } = await ok(app, 'createRole', { body: role });
  const body = { organizationId, permissions: { organizationRole: roleId } };
  const { id, userId } = await invite(body);
  const promotion = "update organization_member set role = 'Admin' where user_id = $1";
  const revoked = await duringTransaction(app.database, promotion, [userId], () =>
    call('deleteInvitation', { id, as: manager }),
  );
  assert.equal(revoked.statusCode, 403, revoked.body);
  const growth = "update role set permissions = '{RUN_APPLY}' where id = $1";
  const invited = await duringTransaction(app.database, growth, [roleId], () =>
    call('createInvitation', { body: { ...body, email: freshEmail() }, as: manager }),
  );
  assert.equal(invited.statusCode, 403, invited.body);
});
