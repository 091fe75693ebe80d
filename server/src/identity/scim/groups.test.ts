import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { addPerson } from '../../../testing/person.ts';
import { type ScimBody, scimClient } from '../../../testing/scim.ts';
import { startTests } from '../../../testing/start.ts';

const { app, organizationId, ok, add } = await startTests();
const scim = await scimClient(app);
const other = await ok('createOrganization', { body: { name: 'Other' } });
const schemas = ['urn:ietf:params:scim:schemas:core:2.0:Group'];
const person = (name: string, organization = organizationId) =>
  addPerson(app, `${name}@example.com`, { [organization]: 'User' });
const ada = await person('ada');
const ben = await person('ben');
const outsider = await person('outsider', other.id);
const create = (displayName: string, ...ids: string[]) =>
  scim('POST', '/Groups', { schemas, displayName, members: ids.map((value) => ({ value })) });
const patch = (id: string, ...Operations: object[]) =>
  scim('PATCH', `/Groups/${id}`, {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    Operations,
  });
const idsOf = ({ body }: { body: ScimBody }) =>
  body.members.map(({ value }: { value: string }) => value).toSorted();

test('a group is a team: created, renamed, emptied and deleted', async () => {
  const { status, body, response } = await create('operators', ada);
  const { id, meta } = body;
  assert.deepEqual([status, body.displayName, response.headers.location], [201, 'operators', meta.location]);
  assert.deepEqual(body.members, [
    {
      value: ada,
      type: 'User',
      $ref: meta.location.replace(`Groups/${id}`, `Users/${ada}`),
    },
  ]);
  assert.deepEqual((await scim('GET', `/Groups/${id}`)).body, body);
  const again = await create('operators');
  assert.deepEqual([again.status, again.body.scimType], [409, 'uniqueness']);
  const replaced = await scim('PUT', `/Groups/${id}`, { schemas, displayName: 'on call', externalId: 'g1' });
  assert.deepEqual(
    [replaced.body.displayName, replaced.body.externalId, replaced.body.members],
    ['on call', 'g1', []],
  );
  assert.equal((await ok('getTeam', { id })).name, 'on call');
  assert.equal((await scim('DELETE', `/Groups/${id}`)).status, 204);
  for (const missing of [id, randomUUID(), 'none'])
    assert.equal((await scim('GET', `/Groups/${missing}`)).status, 404);
});

test('members as Entra ID and Okta change them', async () => {
  const { id } = (await create('changing')).body;
  const added = await patch(id, { op: 'Add', path: 'members', value: [{ value: ada }, { value: ben }] });
  assert.deepEqual(idsOf(added), [ada, ben].toSorted());
  assert.deepEqual(idsOf(await patch(id, { op: 'Add', path: 'members', value: { value: ada } })).length, 2);
  const byPath = await patch(id, { op: 'remove', path: `members[value eq "${ada}"]` });
  assert.deepEqual(idsOf(byPath), [ben]);
  assert.deepEqual(idsOf(await patch(id, { op: 'remove', path: `members[value eq "${ada}"]` })), [ben]);
  const byValue = await patch(id, { op: 'Remove', path: 'members', value: [{ value: ben }] });
  assert.deepEqual(idsOf(byValue), []);
  const replaced = await patch(
    id,
    { op: 'replace', path: 'members', value: [{ value: ben, display: 'x' }] },
    { op: 'replace', value: { id, displayName: 'changed' } },
  );
  assert.deepEqual([idsOf(replaced), replaced.body.displayName], [[ben], 'changed']);
  assert.deepEqual(idsOf(await patch(id, { op: 'remove', path: 'members' })), []);
  for (const value of [outsider, app.admin.id, randomUUID()]) {
    const refused = await patch(id, { op: 'add', path: 'members', value: [{ value: ada }, { value }] });
    assert.deepEqual([refused.status, refused.body.scimType], [400, 'invalidValue']);
    assert.match(refused.body.detail, new RegExp(value));
  }
  assert.deepEqual(idsOf(await scim('GET', `/Groups/${id}`)), []);
  const { id: taken } = (await create('taken')).body;
  const named = await patch(taken, { op: 'replace', path: 'displayName', value: 'changed' });
  assert.deepEqual([named.status, named.body.scimType], [409, 'uniqueness']);
});

test('keys in a team stay, and teams with roles can be filled', async () => {
  const team = await add('Team', 'with key');
  await ok('updateTeam', { id: team.id, body: { userIds: [app.admin.id, ada] } });
  await ok('assignTeamRole', { body: { teamId: team.id, organizationId, role: 'Admin' } });
  assert.deepEqual(idsOf(await scim('GET', `/Groups/${team.id}`)), [ada]);
  const put = await scim('PUT', `/Groups/${team.id}`, {
    schemas,
    displayName: 'with key',
    members: [{ value: ben }],
  });
  assert.deepEqual(idsOf(put), [ben]);
  const { users } = await ok('getTeam', { id: team.id });
  assert.deepEqual(users?.map((user) => user.user_id).toSorted(), [app.admin.id, ben].toSorted());
});

test('groups of other organizations are not there', async () => {
  const team = await ok('createTeam', { body: { organizationId: other.id, name: 'theirs' } });
  for (const [method, body] of [
    ['GET', undefined],
    ['PUT', { schemas, displayName: 'mine' }],
    ['DELETE', undefined],
  ] as const)
    assert.equal((await scim(method, `/Groups/${team.id}`, body)).status, 404);
  assert.equal((await patch(team.id, { op: 'add', path: 'members', value: [{ value: ada }] })).status, 404);
  const listed = await scim('GET', `/Groups?filter=${encodeURIComponent('displayName eq "theirs"')}`);
  assert.equal(listed.body.totalResults, 0);
});

test('groups are filtered and listed without members', async () => {
  const { id } = (await create('listed', ada, ben)).body;
  const list = (filter: string, more = '') =>
    scim('GET', `/Groups?filter=${encodeURIComponent(filter)}${more}`);
  for (const filter of [
    'displayName eq "Listed"',
    `id eq "${id}"`,
    `members.value eq "${ben}" and displayName sw "list"`,
    `members[value eq "${ben}"] and displayName co "iste"`,
  ]) {
    const { body } = await list(filter);
    assert.deepEqual([body.totalResults, body.Resources[0]?.id], [1, id], filter);
    assert.equal(body.Resources[0].members.length, 2, filter);
  }
  const { body } = await list('displayName eq "listed"', '&excludedAttributes=members');
  assert.deepEqual(Object.keys(body.Resources[0]).toSorted(), ['displayName', 'id', 'meta', 'schemas']);
  const only = await scim('GET', `/Groups/${id}?attributes=members.value`);
  assert.deepEqual(Object.keys(only.body.members[0]), ['value']);
  assert.equal(only.body.displayName, undefined);
});
