import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reply } from '../../../testing/client.ts';
import { fieldsOf } from '../../../testing/fields.ts';
import { addPerson, TestBrowser } from '../../../testing/person.ts';
import { startTests } from '../../../testing/start.ts';

const { app, organizationId, call, ok, refused, sql, add } = await startTests();
const person = await app.addKey({ [organizationId]: 'User' });
const create = (body: object = {}, as = person) =>
  ok('createPersonalApiKey', { body: { name: 'laptop', ...body }, as });
const keyOf = (made: { apiKeyId: string; apiKeySecret: string }) => ({
  id: made.apiKeyId,
  secret: made.apiKeySecret,
});

test('a personal key acts as its person, with the same rights at any time', async () => {
  const made = await create();
  assert.deepEqual([made.createdBy, made.createdByUser?.user_id], [person.id, person.id]);
  const as = keyOf(made);
  assert.deepEqual(await ok('listProjects', { as }), []);
  await sql("update organization_member set role = 'Admin' where user_id = $1", person.id);
  const project = await ok('createProject', { body: { organizationId, name: 'mine' }, as });
  assert.equal(project.createdBy, person.id);
  await sql("update organization_member set role = 'User' where user_id = $1", person.id);
  assert.deepEqual(await ok('listProjects', { as }), []);
});

test('everybody lists and deletes the own keys, and no others', async () => {
  const made = await create();
  const listed = await ok('listPersonalApiKeys', { as: person });
  assert.deepEqual(listed[0]?.id, made.id);
  assert.ok(!JSON.stringify(listed).includes(made.apiKeySecret));
  const params = { id: made.id };
  for (const as of [app.admin, await app.addKey({ [organizationId]: 'Admin' })]) {
    await refused('deletePersonalApiKey', 404, { params, as });
    await refused('addPersonalApiKeySecret', 404, { params, as });
    assert.ok(!(await ok('listPersonalApiKeys', { as })).some(({ id }) => id === made.id));
    await refused('deleteApiKey', 404, { params, as });
  }
  assert.deepEqual(await ok('deletePersonalApiKey', { params, as: person }), params);
  assert.equal((await call('listProjects', { as: keyOf(made) })).statusCode, 401);
  await refused('deletePersonalApiKey', 404, { params, as: person });
});

test('a personal key can rotate its own secrets', async () => {
  const made = await create();
  const as = keyOf(made);
  const params = { id: made.id };
  const second = await ok('addPersonalApiKeySecret', { params, as });
  await refused('addPersonalApiKeySecret', 409, { params, as });
  const changed = { ...as, secret: second.apiKeySecret };
  const secretId = made.secrets[0]?.id ?? '';
  await ok('deletePersonalApiKeySecret', { params: { ...params, secretId }, as: changed });
  assert.equal((await call('listProjects', { as })).statusCode, 401);
  await ok('listProjects', { as: changed });
});

test('a key with limits makes no keys without them', async () => {
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const other = await create();
  for (const limits of [{ expiresAt }, { networks: ['127.0.0.1'] }]) {
    const as = keyOf(await create(limits));
    await refused('createPersonalApiKey', 403, /expires or is limited/, { body: { name: 'more' }, as });
    await refused('addPersonalApiKeySecret', 403, { id: other.id, as });
    await ok('addPersonalApiKeySecret', { id: as.id, as });
  }
});

test('keys of organizations and the first key of the installation have no personal keys', async () => {
  const robot = await add('ApiKey', 'robot');
  for (const as of [keyOf(robot), app.admin]) {
    await refused('createPersonalApiKey', 403, /Only people/, { body: { name: 'x' }, as });
  }
  assert.deepEqual(await ok('listPersonalApiKeys', { as: keyOf(robot) }), []);
});

test('the first key of an installation changes its secret, and is never deleted', async () => {
  const [first] = await ok('listPersonalApiKeys');
  assert.equal(first?.id, 'admin');
  assert.equal(first.createdByUser, null);
  const params = { id: 'admin' };
  await refused('deletePersonalApiKey', 409, { params });
  const { apiKeySecret } = await ok('addPersonalApiKeySecret', { params });
  const secretId = first.secrets[0]?.id ?? '';
  const as = { id: 'admin', secret: apiKeySecret };
  await ok('deletePersonalApiKeySecret', { params: { ...params, secretId }, as });
  await refused('listOrganizations', 401);
  assert.equal((await ok('listOrganizations', { as })).length, 1);
  const colleague = await ok('createApiKey', { body: { organizationId, name: 'colleague' }, as });
  await refused('addApiKeySecret', 404, { params, as: keyOf(colleague) });
});

test('the keys of a blocked person are refused', async () => {
  const made = await create();
  await sql('update app_user set is_blocked = true where id = $1', person.id);
  assert.equal((await call('listOrganizations', { as: keyOf(made) })).statusCode, 401);
});

test('a person manages the own keys in a browser, too', async () => {
  const userId = await addPerson(app, 'ada@example.com', { [organizationId]: 'User' });
  const browser = new TestBrowser(app);
  await browser.signIn('ada@example.com');
  const url = '/api/personal-api-keys';
  const response = await browser.send('POST', url, { name: 'laptop' });
  assert.equal(response.statusCode, 200, response.body);
  const made = response.json<Reply<'createPersonalApiKey'>>();
  const { user } = await ok('getCurrentUser', { as: keyOf(made) });
  assert.equal(user.user_id, userId);
  const listed = async () => (await browser.send('GET', url)).json<Reply<'listPersonalApiKeys'>>();
  assert.deepEqual(fieldsOf(await listed(), 'id', 'name'), [[made.id, 'laptop']]);
  const second = await browser.send('POST', `${url}/${made.id}/secrets`);
  assert.equal(second.statusCode, 200, second.body);
  assert.equal((await browser.send('DELETE', `${url}/${made.id}`)).statusCode, 200);
  assert.deepEqual(await listed(), []);
});
