import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import { startTests } from '../../../testing/start.ts';

const { app, organizationId, call, ok, refused, sql } = await startTests();
const create = (body: object) => ok('createTeam', { body: { organizationId, ...body } });
const update = (id: string, body: object) => ok('updateTeam', { id, body });
const idsOf = (team: { users?: { user_id?: string }[] }) => team.users?.map((user) => user.user_id);

const ada = await app.addKey({ [organizationId]: 'User' });
const ben = await app.addKey({ [organizationId]: 'User' });
const { id: elsewhere } = await ok('createOrganization', { body: { name: 'Elsewhere' } });
const outsider = await app.addKey({ [elsewhere]: 'Admin' });

test('a team has a name, a description and members, each changed alone', async () => {
  covers('Team', 'id', 'organizationId', 'name', 'description', 'users', 'createdByUser');
  const name = `operators ${randomUUID()}`;
  const team = await create({ name, description: 'day and night' });
  assert.deepEqual(
    [team.name, team.description, team.organizationId, team.isDefaultTeam, team.users],
    [name, 'day and night', organizationId, false, []],
  );
  assert.equal(team.createdByUser?.user_id, app.admin.id);
  const filled = await update(team.id, { userIds: [ada.id, app.admin.id, ada.id] });
  assert.deepEqual(idsOf(filled)?.toSorted(), [ada.id, app.admin.id].toSorted());
  assert.deepEqual(
    filled.users?.find((user) => user.user_id === app.admin.id)?.app_metadata,
    { isApiKey: true },
    'a key is a member as people are',
  );
  const renamed = await update(team.id, { name: 'on call', description: '' });
  assert.deepEqual([renamed.name, renamed.description, renamed.users], ['on call', '', filled.users]);
  assert.deepEqual(await ok('getTeam', { id: team.id }), renamed);
  assert.deepEqual(idsOf(await update(team.id, { userIds: [ben.id] })), [ben.id]);
  assert.deepEqual(idsOf(await update(team.id, { userIds: [] })), []);
  assert.deepEqual(await ok('deleteTeam', { id: team.id }), { id: team.id });
  await refused('getTeam', 404, { id: team.id });
  await refused('deleteTeam', 404, { id: team.id });
});

test('a name is unique in an organization', async () => {
  const once = await create({ name: 'once' });
  const other = await create({ name: 'other' });
  const again = { organizationId, name: 'once' };
  await refused('createTeam', 409, /"once"/, { body: again });
  const params = { id: other.id };
  await refused('updateTeam', 409, /"once"/, { params, body: { name: 'once' } });
  await update(once.id, { name: 'once' });
  await ok('createTeam', { body: { organizationId: elsewhere, name: 'once' } });
  const replies = await Promise.all(
    Array.from({ length: 4 }, () => call('createTeam', { body: { organizationId, name: 'at once' } })),
  );
  assert.deepEqual(replies.map(({ statusCode }) => statusCode).toSorted(), [200, 409, 409, 409]);
});

test('only members of the organization can be members of its teams', async () => {
  const team = await create({ name: 'closed' });
  for (const userId of [outsider.id, 'nobody', randomUUID()]) {
    const body = { userIds: [ada.id, userId] };
    assert.equal(
      (await refused('updateTeam', 400, { id: team.id, body })).message,
      '/body/userIds/1 does not match any member of the organization that you have access to',
    );
  }
  assert.deepEqual(idsOf(await ok('getTeam', { id: team.id })), []);
});

test('of two lists of members sent at once, one is there completely', async () => {
  const team = await create({ name: 'raced' });
  const lists = [
    [ada.id, ben.id],
    [app.admin.id, ben.id],
  ];
  for (let round = 0; round < 5; round++) {
    await Promise.all(lists.map((userIds) => update(team.id, { userIds })));
    const found = idsOf(await ok('getTeam', { id: team.id }))?.toSorted();
    assert.ok(
      lists.some((userIds) => userIds.toSorted().join() === found?.join()),
      found?.join(),
    );
  }
});

test('new people join the default team, and keys do not', async () => {
  covers('Team', 'isDefaultTeam');
  const team = await create({ name: 'everybody', isDefaultTeam: true });
  assert.equal(team.isDefaultTeam, true);
  const person = await app.addKey({ [organizationId]: 'User' });
  await sql("insert into app_user (id, name, email, is_api_key) values ('k', 'k', '', true)");
  await sql(
    "insert into organization_member (organization_id, user_id, role) values ($1, 'k', 'User')",
    organizationId,
  );
  await app.addKey({ [elsewhere]: 'User' });
  assert.deepEqual(idsOf(await ok('getTeam', { id: team.id })), [person.id]);
  await update(team.id, { isDefaultTeam: false });
  await app.addKey({ [organizationId]: 'User' });
  assert.deepEqual(idsOf(await ok('getTeam', { id: team.id })), [person.id]);
});

test('no one gains the rights of a team by its members', async () => {
  const manager = await app.addKey({ [organizationId]: ['EDIT_ORGANIZATION_SETTINGS', 'VIEW_ORGANIZATION'] });
  const team = await create({ name: 'powerful' });
  const params = { id: team.id };
  await ok('updateTeam', { params, body: { userIds: [ada.id] }, as: manager });
  const { projectId } = app;
  await ok('assignTeamRole', { body: { teamId: team.id, projectId, role: 'Viewer' } });
  for (const body of [{ userIds: [ada.id, manager.id] }, { isDefaultTeam: true }, { name: 'developers' }]) {
    const { message } = await refused('updateTeam', 403, { params, body, as: manager });
    assert.match(message, /"powerful" needs all rights.*VIEW_PROJECT, VIEW_ENVIRONMENT/);
  }
  await ok('updateTeam', { params, body: { name: 'powerful', userIds: [ada.id] }, as: manager });
  const removal = await refused('updateTeam', 403, { params, body: { userIds: [] }, as: manager });
  assert.match(removal.message, /Removing members .* needs all rights/);
  await ok('updateTeam', { params, body: { isDefaultTeam: true } });
  const end = await refused('updateTeam', 403, { params, body: { isDefaultTeam: false }, as: manager });
  assert.match(end.message, /Keeping new people out of the team "powerful" needs all rights/);
  await ok('updateTeam', { params, body: { isDefaultTeam: true, description: 'same' }, as: manager });
  await ok('updateTeam', { params, body: { isDefaultTeam: false } });
  await ok('updateTeam', { params, body: { userIds: [] } });
});

test('what happens to teams is audited', async () => {
  const team = await create({ name: 'audited' });
  await update(team.id, { name: 'renamed', userIds: [ben.id] });
  await ok('deleteTeam', { id: team.id });
  const rows = await sql(
    'select action, details, before, after from audit_event where entity_id = $1 order by id',
    team.id,
  );
  assert.deepEqual(rows, [
    {
      action: 'team.created',
      details: {},
      before: null,
      after: { name: 'audited', description: '', isDefaultTeam: false },
    },
    {
      action: 'team.updated',
      details: { added: [ben.id], removed: [] },
      before: { name: 'audited' },
      after: { name: 'renamed' },
    },
    {
      action: 'team.deleted',
      details: {},
      before: { name: 'renamed', description: '', isDefaultTeam: false },
      after: null,
    },
  ]);
});

test('teams are seen by all who see the organization, and changed by those who may change it', async () => {
  const team = await create({ name: 'seen' });
  const params = { id: team.id };
  assert.equal((await ok('getTeam', { params, as: ada })).name, 'seen');
  await ok('listTeams', { params: { organizationId }, as: ada });
  for (const [name, body] of [
    ['updateTeam', { name: 'x' }],
    ['deleteTeam', undefined],
  ] as const)
    await refused(name, 403, /EDIT_ORGANIZATION_SETTINGS/, { params, body, as: ada });
  await refused('createTeam', 403, { body: { organizationId, name: 'x' }, as: ada });
  await refused('getTeam', 404, { params, as: outsider });
  await refused('listTeams', 404, { params: { organizationId }, as: outsider });
});
