import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { fieldOf, fieldsOf } from '../../../testing/fields.ts';
import { addPerson, TestBrowser } from '../../../testing/person.ts';
import { scimClient } from '../../../testing/scim.ts';
import { startTests } from '../../../testing/start.ts';

const { app, organizationId, call, ok, refused, sql, add } = await startTests();
const scim = await scimClient(app);
const other = await ok('createOrganization', { body: { name: 'Other' } });
const schemas = ['urn:ietf:params:scim:schemas:core:2.0:User'];
const patchSchemas = ['urn:ietf:params:scim:api:messages:2.0:PatchOp'];
const patch = (id: string, ...Operations: object[]) =>
  scim('PATCH', `/Users/${id}`, { schemas: patchSchemas, Operations });
const statusOf = async (userId: string) =>
  (await ok('listMembers', { id: organizationId })).find(({ user }) => user.user_id === userId)?.status;
const create = async (userName: string, more: object = {}) => {
  const { status, body } = await scim('POST', '/Users', { schemas, userName, ...more });
  assert.equal(status, 201, JSON.stringify(body));
  return body.id as string;
};

test('a person is created, read, replaced and removed', async () => {
  const sent = {
    schemas,
    userName: 'Ada@Example.com',
    externalId: 'ext-1',
    name: { givenName: 'Ada', familyName: 'Lovelace', honorificPrefix: 'Countess' },
    displayName: 'Ada L.',
    emails: [{ value: 'ada@example.org', type: 'work', primary: true }],
    active: true,
    title: 'not kept',
    'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { department: 'not kept' },
  };
  const { status, body, response } = await scim('POST', '/Users', sent);
  assert.equal(status, 201);
  const { meta, id, ...values } = body;
  const { title, honorificPrefix, ...kept } = { ...sent, honorificPrefix: '' };
  delete (kept as Record<string, unknown>)['urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'];
  assert.deepEqual(values, { ...kept, name: { givenName: 'Ada', familyName: 'Lovelace' } });
  assert.equal(response.headers.location, meta.location);
  assert.match(meta.location, new RegExp(`^http://.+/scim/v2/Users/${id}$`));
  assert.equal(meta.resourceType, 'User');
  assert.deepEqual((await scim('GET', `/Users/${id}`)).body, body);
  const member = (await ok('listMembers', { id: organizationId }))[0];
  assert.deepEqual([member?.user.user_id, member?.role, member?.status], [id, 'User', 'Active']);
  assert.equal(member?.user.name, 'Ada L.');
  const again = await scim('POST', '/Users', { ...sent, userName: 'ADA@example.COM' });
  assert.deepEqual([again.status, again.body.scimType], [409, 'uniqueness']);
  const replaced = await scim('PUT', `/Users/${id}`, { schemas, userName: 'Ada@Example.com', id: 'x' });
  assert.deepEqual(
    [replaced.status, replaced.body.name, replaced.body.externalId, replaced.body.active, replaced.body.id],
    [200, undefined, undefined, true, id],
  );
  assert.equal((await scim('DELETE', `/Users/${id}`)).status, 204);
  for (const method of ['GET', 'DELETE'] as const)
    assert.equal((await scim(method, `/Users/${id}`)).status, 404);
  assert.equal(await statusOf(id), undefined);
  assert.equal(await create('ada@example.com'), id, 'the account was kept, and is found by its e-mail');
});

test('what is sent wrong is named', async () => {
  const id = await create('wrong@example.com');
  for (const [body, detail] of [
    [{ schemas }, /userName is required/],
    [{ schemas, userName: 'no address' }, /userName must be the e-mail/],
    [{ schemas, userName: ['a@b'] }, /userName must be a string/],
    [{ schemas, userName: 'a@b', name: 'Ada' }, /name must be an object/],
    [{ schemas, userName: 'a@b', active: 'maybe' }, /active must be true or false/],
    [{ schemas, userName: 'a@b', displayName: 'x'.repeat(256) }, /displayName has more than 255/],
    [{ schemas, userName: 'a@b', displayName: 'a\nb' }, /displayName has control characters/],
    [
      { schemas, userName: 'a@b', emails: Array.from({ length: 51 }, () => ({ value: 'x' })) },
      /more than 50/,
    ],
    [[1], /The resource must be an object/],
    ['text', /The resource must be an object/],
  ] as const)
    for (const [method, path] of [
      ['POST', '/Users'],
      ['PUT', `/Users/${id}`],
    ] as const) {
      const { status, body: answer } = await scim(method, path, body);
      assert.deepEqual([status, answer.status, answer.scimType], [400, '400', 'invalidValue']);
      assert.deepEqual(answer.schemas, ['urn:ietf:params:scim:api:messages:2.0:Error']);
      assert.match(answer.detail, detail);
    }
  for (const missing of [randomUUID(), 'nobody'])
    assert.equal((await scim('PUT', `/Users/${missing}`, { schemas, userName: 'a@b' })).status, 404);
});

test('PATCH as Entra ID and Okta send it', async () => {
  const id = await create('patched@example.com', { displayName: 'Before' });
  // Entra ID: words with capitals, booleans as texts, filters in paths, and attributes that are not kept.
  const entra = await patch(
    id,
    { op: 'Replace', path: 'active', value: 'False' },
    { op: 'Add', path: 'emails[type eq "work"].value', value: 'work@example.com' },
    { op: 'Add', path: 'name.givenName', value: 'Grace' },
    { op: 'Replace', path: 'displayName', value: 'Grace H.' },
    { op: 'Add', path: 'title', value: 'Admiral' },
    { op: 'Add', path: 'addresses[type eq "work"].country', value: 'US' },
    {
      op: 'Add',
      path: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department',
      value: 'Navy',
    },
  );
  assert.equal(entra.status, 200, JSON.stringify(entra.body));
  assert.deepEqual(
    [entra.body.active, entra.body.emails, entra.body.name, entra.body.displayName],
    [false, [{ type: 'work', value: 'work@example.com' }], { givenName: 'Grace' }, 'Grace H.'],
  );
  assert.equal(await statusOf(id), 'Inactive');
  const again = await patch(
    id,
    { op: 'Replace', path: 'emails[type eq "work"].value', value: 'second@example.com' },
    { op: 'Replace', value: { active: 'True', 'name.familyName': 'Hopper', userType: 'x' } },
  );
  assert.deepEqual(
    [again.body.active, again.body.emails[0].value, again.body.name],
    [true, 'second@example.com', { givenName: 'Grace', familyName: 'Hopper' }],
  );
  // Okta: no path, booleans, lower case; the whole resource that it has read.
  assert.equal((await patch(id, { op: 'replace', value: { active: false } })).body.active, false);
  assert.equal(
    (await patch(id, { op: 'replace', value: { ...again.body, active: true } })).body.active,
    true,
  );
  const removed = await patch(id, { op: 'remove', path: 'name.givenName' }, { op: 'remove', path: 'emails' });
  assert.deepEqual([removed.body.name, removed.body.emails], [{ familyName: 'Hopper' }, undefined]);
  for (const [operation, scimType] of [
    [{ op: 'move', path: 'active' }, 'invalidSyntax'],
    [{ op: 'remove' }, 'noTarget'],
    [{ op: 'replace', path: 'emails[type eq "home"].value', value: 'x' }, 'noTarget'],
    [{ op: 'replace', path: 'nothing', value: 'x' }, 'invalidPath'],
    [{ op: 'replace', path: 'displayName.x', value: 'x' }, 'invalidPath'],
    [{ op: 'replace', path: '__proto__.x', value: 'x' }, 'invalidPath'],
    [{ op: 'replace', path: 'emails[type qq "home"]', value: {} }, 'invalidFilter'],
    [{ op: 'replace', path: 'id', value: 'x' }, 'mutability'],
    [{ op: 'replace', value: 'x' }, 'invalidValue'],
    [{ op: 'remove', path: 'userName' }, 'invalidValue'],
    [{ op: 'remove', path: 'active' }, 'mutability'],
    [{ op: 'add', path: 'emails', value: ['x'] }, 'invalidValue'],
  ] as const) {
    const answer = await patch(id, operation);
    assert.deepEqual([answer.status, answer.body.scimType], [400, scimType], JSON.stringify(operation));
  }
  assert.equal((await patch(id)).body.scimType, 'invalidSyntax');
  assert.deepEqual((await scim('GET', `/Users/${id}`)).body.name, { familyName: 'Hopper' });
});

test('who is deactivated loses rights, sessions and personal keys at once, and comes back with role and teams', async () => {
  const email = 'leaver@example.com';
  const id = await addPerson(app, email, { [organizationId]: 'User' });
  const browser = new TestBrowser(app);
  await browser.signIn(email);
  const key = (await browser.send('POST', '/api/personal-api-keys', { name: 'mine' })).json();
  const as = { id: key.apiKeyId, secret: key.apiKeySecret };
  const team = await add('Team', 'kept');
  await ok('updateTeam', { id: team.id, body: { userIds: [id] } });
  await ok('getTeam', { id: team.id, as });
  assert.equal((await patch(id, { op: 'Replace', path: 'active', value: 'False' })).body.active, false);
  await refused('getTeam', 401, { id: team.id, as });
  assert.equal((await browser.send('GET', '/api/users/me')).statusCode, 401);
  assert.equal(await statusOf(id), 'Inactive');
  const invite = { body: { email, organizationId } };
  await refused('createInvitation', 409, /deactivated/, invite);
  const back = new TestBrowser(app);
  await back.signIn(email);
  assert.equal((await back.send('GET', `/api/teams/${team.id}`)).statusCode, 404);
  await patch(id, { op: 'Replace', path: 'active', value: 'True' });
  assert.equal((await back.send('GET', `/api/teams/${team.id}`)).statusCode, 200);
  const { users } = await ok('getTeam', { id: team.id });
  assert.deepEqual(fieldOf(users, 'user_id'), [id]);
  const rows = await sql(
    "select action, actor_id, key_id, before, after from audit_event where entity_id = $1 and actor_id = 'scim' order by id",
    id,
  );
  assert.deepEqual(fieldsOf(rows, 'action', 'before', 'after'), [
    ['user.deactivated', { active: true }, { active: false }],
    ['user.activated', { active: false }, { active: true }],
  ]);
  assert.equal(rows[0].key_id, scim.token.split('.')[0]);
});

test('the last administrator cannot be deactivated or removed', async () => {
  const third = await ok('createOrganization', { body: { name: 'Third' } });
  const client = await scimClient(app, third.id);
  const email = 'boss@example.com';
  const boss = await addPerson(app, email, { [third.id]: 'Admin' });
  const put = { schemas, userName: email, active: false };
  for (const answer of [
    await client('PUT', `/Users/${boss}`, put),
    await client('DELETE', `/Users/${boss}`),
  ]) {
    assert.deepEqual([answer.status, answer.body.status], [409, '409']);
    assert.match(answer.body.detail, /last administrator/);
  }
  await addPerson(app, 'second@boss.example', { [third.id]: 'Admin' });
  assert.equal((await client('PUT', `/Users/${boss}`, put)).status, 200);
});

test('people of other organizations are not there, and their accounts are not changed', async () => {
  const email = 'shared@example.com';
  const id = await addPerson(app, email, { [other.id]: 'User' });
  await sql('update app_user set is_email_verified = true where id = $1', id);
  assert.equal((await scim('GET', `/Users/${id}`)).status, 404);
  assert.equal((await patch(id, { op: 'replace', value: { active: false } })).status, 404);
  assert.equal((await scim('DELETE', `/Users/${id}`)).status, 404);
  const filter = encodeURIComponent(`userName eq "${email}"`);
  assert.equal((await scim('GET', `/Users?filter=${filter}`)).body.totalResults, 0);
  assert.equal(await create(email, { displayName: 'Renamed' }), id);
  assert.equal((await scim('GET', `/Users/${id}`)).body.displayName, 'Renamed');
  const renamed = await patch(id, { op: 'replace', value: { userName: 'thief@example.com' } });
  assert.deepEqual([renamed.status, renamed.body.scimType], [400, 'mutability']);
  const members = await ok('listMembers', { id: other.id });
  const shared = members.find(({ user }) => user.user_id === id);
  assert.deepEqual([shared?.user.name, shared?.user.email, shared?.status], [email, email, 'Active']);
  await patch(id, { op: 'replace', value: { active: false } });
  const after = await ok('listMembers', { id: other.id });
  assert.equal(after.find(({ user }) => user.user_id === id)?.status, 'Active');
});

test('the e-mail of an account that the provider created can change; its old credentials end', async () => {
  const id = await create('before@example.com');
  await create('somebody@example.com');
  const changed = await patch(id, { op: 'replace', path: 'userName', value: 'after@example.com' });
  assert.deepEqual([changed.status, changed.body.userName], [200, 'after@example.com']);
  const refusal = await patch(id, { op: 'replace', path: 'userName', value: 'Somebody@example.com' });
  assert.deepEqual([refusal.status, refusal.body.scimType], [409, 'uniqueness']);
});

test('who was invited becomes a member when the provider activates the person', async () => {
  const email = 'invited@example.com';
  const { id: invitation, userId } = await ok('createInvitation', { body: { email, organizationId } });
  const listed = await scim('GET', `/Users?filter=${encodeURIComponent(`userName eq "${email}"`)}`);
  assert.deepEqual([listed.body.Resources[0].id, listed.body.Resources[0].active], [userId, false]);
  await patch(userId, { op: 'Replace', path: 'active', value: 'True' });
  assert.equal(await statusOf(userId), 'Active');
  assert.equal((await call('resendInvitation', { id: invitation })).statusCode, 410);
});
