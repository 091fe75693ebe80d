import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import type { Team, TeamPage } from '#contract/teams/shapes.ts';
import { testApp } from '../../../testing/app.ts';
import { send } from '../../../testing/client.ts';
import { startTests } from '../../../testing/start.ts';

const { app, organizationId, call, ok, refused, add, createIdle } = await startTests();
const params = { organizationId };

async function addTeams(names: readonly string[]): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (const name of names) ids.set(name, (await add('Team', name)).id);
  return ids;
}

/** The array form. */
async function page(query: Record<string, string> = {}) {
  const response = await call('listTeams', { params, query });
  assert.equal(response.statusCode, 200, response.body);
  return { names: response.json<Team[]>().map(({ name }) => name), headers: response.headers };
}

const names = Array.from({ length: 55 }, (_, index) => `team ${String(index).padStart(2, '0')}`);
const ids = await addTeams([...names, '100%', '100x']);
const newestFirst = [...names, '100%', '100x'].toReversed();

test('the list is an array, newest first, with the next page in headers', async () => {
  covers('listTeams', 'query.offset', 'reply');
  const first = await page();
  assert.deepEqual(first.names, newestFirst.slice(0, 50));
  const key = String(first.headers['x-next-page-key']);
  assert.equal(first.headers['x-total-count'], '57');
  assert.equal(first.headers.link, `</api/teams/organizations/${organizationId}?offset=${key}>; rel="next"`);
  const second = await page({ offset: key });
  assert.deepEqual(second.names, newestFirst.slice(50));
  assert.deepEqual([second.headers.link, second.headers['x-next-page-key']], [undefined, undefined]);
  assert.equal(second.headers['x-total-count'], '57');
});

test('pages of any size hold each team once, also while teams come and go', async () => {
  covers('listTeams', 'query.limit');
  const seen: string[] = [];
  let offset: string | undefined;
  do {
    const found = await page({ limit: '10', ...(offset ? { offset } : {}) });
    seen.push(...found.names);
    offset = found.headers['x-next-page-key'] as string | undefined;
    if (seen.length === 20) {
      await add('Team', 'in between');
      await ok('deleteTeam', { id: ids.get(seen.at(-1) ?? '') ?? '' });
    }
  } while (offset !== undefined);
  assert.deepEqual(seen, newestFirst);
  assert.equal((await page({ limit: '1000' })).names.length, 57);
  assert.equal((await page({ limit: '57' })).headers.link, undefined);
});

test('Terraform providers get an object, and a setting says so for all or none', async () => {
  const query = { limit: '30', name: 'team' };
  const headers = { 'user-agent': 'resty terraform-provider-envarium/1.2.3' };
  const response = await call('listTeams', { params, query, headers });
  const first = response.json<TeamPage>();
  assert.equal(first.teams.length, 30);
  assert.equal(first.nextPageKey, first.teams.at(-1)?.id);
  const again = { params, query: { ...query, offset: first.nextPageKey ?? '' }, headers };
  const second = (await call('listTeams', again)).json<TeamPage>();
  assert.equal(second.nextPageKey, undefined);
  assert.equal(new Set([...first.teams, ...second.teams].map(({ name }) => name)).size, 54);
  for (const [form, isArray] of [
    ['array', true],
    ['object', false],
  ] as const) {
    const other = await testApp({ ENVARIUM_TEAMS_LIST_FORM: form });
    const url = `/api/teams/organizations/${other.organizationId}`;
    for (const agent of [headers, { 'user-agent': 'curl/8' }])
      assert.deepEqual(
        (await send(other, { url, headers: agent })).json(),
        isArray ? [] : { teams: [] },
        form,
      );
  }
});

test('a name filter matches the beginning, literally', async () => {
  covers('listTeams', 'query.name');
  assert.deepEqual((await page({ name: 'team 0' })).headers['x-total-count'], '10');
  assert.deepEqual((await page({ name: '100%' })).names, ['100%']);
  assert.deepEqual((await page({ name: 'eam' })).names, []);
});

test('members are left out on request', async () => {
  covers('listTeams', 'query.excludeFields');
  const [team] = (await ok('listTeams', { params, query: { limit: '1', excludeFields: 'users' } })) as Team[];
  assert.deepEqual(Object.keys(team ?? {}).toSorted(), [
    'createdByUser',
    'description',
    'id',
    'isDefaultTeam',
    'name',
    'organizationId',
  ]);
});

test('teams are filtered by what they are assigned to, inherited roles included', async () => {
  covers(
    'listTeams',
    'query.assignedToOrganizationId',
    'query.assignedToProjectId',
    'query.assignedToEnvironmentId',
  );
  const project = async (name: string, parentProjectId?: string) =>
    (await add('Project', name, { parentProjectId })).id;
  const outer = await project('outer');
  const inner = await project('inner', outer);
  const second = await project('second');
  const { id: environmentId } = await createIdle({ name: 'one', projectId: inner });
  const made = await addTeams([
    'of organization',
    'of outer',
    'of inner',
    'of second',
    'of environment',
    'of none',
  ]);
  const assign = (name: string, place: object) =>
    ok('assignTeamRole', { body: { teamId: made.get(name), ...place } });
  await assign('of organization', { organizationId, role: 'User' });
  await assign('of outer', { projectId: outer, role: 'Viewer' });
  await assign('of inner', { projectId: inner, role: 'Deployer' });
  await assign('of second', { projectId: second, role: 'Viewer' });
  await assign('of environment', { environmentId, role: 'Admin' });
  const filtered = async (query: Record<string, string>) => {
    const found = await page(query);
    assert.equal(found.headers['x-total-count'], String(found.names.length));
    return found.names;
  };
  assert.deepEqual(await filtered({ assignedToOrganizationId: organizationId }), ['of organization']);
  assert.deepEqual(await filtered({ assignedToProjectId: outer }), ['of outer', 'of organization']);
  assert.deepEqual(await filtered({ assignedToProjectId: inner }), [
    'of inner',
    'of outer',
    'of organization',
  ]);
  assert.deepEqual(await filtered({ assignedToEnvironmentId: environmentId }), [
    'of environment',
    'of inner',
    'of outer',
    'of organization',
  ]);
  assert.deepEqual(
    await filtered({ assignedToProjectId: second, assignedToEnvironmentId: environmentId, name: 'of' }),
    ['of organization'],
  );
});

test('what a filter cannot be is refused by name', async () => {
  const other = await ok('createOrganization', { body: { name: 'Other' } });
  const [foreign] = await ok('listProjects', { query: { organizationId: other.id } });
  for (const [query, field] of [
    [{ limit: '0' }, 'limit'],
    [{ limit: '1001' }, 'limit'],
    [{ limit: '-1' }, 'limit'],
    [{ limit: '1.5' }, 'limit'],
    [{ offset: '50' }, 'offset'],
    [{ offset: '' }, 'offset'],
    [{ assignedToOrganizationId: other.id }, 'assignedToOrganizationId'],
    [{ assignedToProjectId: foreign?.id ?? '' }, 'assignedToProjectId'],
    [{ assignedToProjectId: randomUUID() }, 'assignedToProjectId'],
    [{ assignedToEnvironmentId: 'no-uuid' }, 'assignedToEnvironmentId'],
  ] as [Record<string, string>, string][])
    assert.match(
      (await refused('listTeams', 400, { params, query })).message,
      new RegExp(`^/query/${field} `),
      JSON.stringify(query),
    );
  const user = await app.addKey({ [organizationId]: 'User' });
  const query = { assignedToProjectId: app.projectId };
  await refused('listTeams', 403, /assignedToProjectId.*VIEW_PROJECT/, { params, query, as: user });
});
