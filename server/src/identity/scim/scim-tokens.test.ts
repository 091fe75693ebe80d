import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { fieldOf } from '../../../testing/fields.ts';
import { startTests } from '../../../testing/start.ts';

const { app, organizationId, ok, refused, sql } = await startTests();
const params = { id: organizationId };

test('an organization has at most two tokens; each is shown once and kept as an HMAC', async () => {
  const first = await ok('createScimToken', { params });
  const second = await ok('createScimToken', { params });
  assert.match(first.token, new RegExp(`^${first.id}\\.[\\w-]{43}$`));
  assert.match(first.url, /^http:\/\/.+\/scim\/v2$/);
  assert.deepEqual([first.organizationId, first.createdBy], [organizationId, app.admin.id]);
  await refused('createScimToken', 409, /revoke one first/, { params });
  const { token, url, ...shown } = second;
  const listed = await ok('listScimTokens', { params });
  assert.deepEqual([listed[0], listed[1]?.id], [shown, first.id]);
  assert.equal(shown.lastUsedAt, null);
  const rows = await sql<{ row: string }>('select row_to_json(scim_token)::text as row from scim_token');
  const secrets = [first.token, token].map((each) => each.split('.')[1] ?? '');
  assert.ok(rows.every(({ row }) => secrets.every((secret) => !row.includes(secret))));
  assert.ok(app.logged.every((line) => secrets.every((secret) => !line.includes(secret))));
  for (const id of [first.id, second.id])
    assert.deepEqual(await ok('deleteScimToken', { params: { ...params, tokenId: id } }), { id });
  for (const tokenId of [first.id, randomUUID(), 'none'])
    await refused('deleteScimToken', 404, { params: { ...params, tokenId } });
  assert.deepEqual(await ok('listScimTokens', { params }), []);
  const trail = await sql("select action, details from audit_event where entity = 'scimToken' order by id");
  assert.deepEqual(fieldOf(trail, 'action'), [
    'scimToken.created',
    'scimToken.created',
    'scimToken.revoked',
    'scimToken.revoked',
  ]);
});

test('only who could give the role Admin makes a token, and only for the own organization', async () => {
  const manager = await app.addKey({ [organizationId]: ['EDIT_ORGANIZATION_SETTINGS', 'VIEW_ORGANIZATION'] });
  const user = await app.addKey({ [organizationId]: 'User' });
  const outsider = await app.addKey();
  await refused('createScimToken', 403, /A SCIM token/, { params, as: manager });
  await ok('listScimTokens', { params, as: manager });
  await refused('createScimToken', 403, { params, as: user });
  await refused('listScimTokens', 403, { params, as: user });
  await refused('listScimTokens', 404, { params, as: outsider });
  const { id } = await ok('createScimToken', { params });
  const other = await ok('createOrganization', { body: { name: 'Other' } });
  await refused('deleteScimToken', 404, { params: { id: other.id, tokenId: id } });
  await refused('deleteScimToken', 404, { params: { id: organizationId, tokenId: id }, as: outsider });
  await ok('deleteScimToken', { params: { id: organizationId, tokenId: id } });
});
