import assert from 'node:assert/strict';
import { test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import { testApp } from '../../../testing/app.ts';
import { ok } from '../../../testing/client.ts';
import { createBody } from '../../../testing/environment.ts';
import { fieldOf } from '../../../testing/fields.ts';
import { startTests } from '../../../testing/start.ts';

const { app, call, sql, createIdle } = await startTests();
const repository = 'https://git.example.com/code.git';
const createCoded = (more: object) => createIdle({ repository, ...more });
const colleague = await app.addKey({ [app.organizationId]: 'Admin' });
const { id: second } = await ok(app, 'createProject', {
  body: { organizationId: app.organizationId, name: 'Second' },
});
const { id: otherOrganization } = await ok(app, 'createOrganization', { body: { name: 'Other' } });
const other = (await ok(app, 'listProjects', { query: { organizationId: otherOrganization } }))[0]?.id ?? '';

await createCoded({ name: 'a%b_c\\d', workspaceName: 'pre_one' });
await createCoded({ name: 'axbyczd', workspaceName: 'prexone', isRemoteBackend: true });
await createCoded({ name: 'Network', projectId: second });
await createCoded({ name: 'network', organizationId: otherOrganization, projectId: other });
await ok(app, 'createEnvironmentWithoutTemplate', {
  body: createBody(app, { name: 'theirs', preventAutoDeploy: true, repository }),
  as: colleague,
});
const archived = await createCoded({ name: 'archived' });
await ok(app, 'updateEnvironment', { id: archived.id, body: { isArchived: true } });

const names = async (query: Record<string, string> = {}) =>
  (await ok(app, 'listEnvironments', { query })).map(({ name }) => name);
const all = ['archived', 'theirs', 'network', 'Network', 'axbyczd', 'a%b_c\\d'];

test('the list has all environments that the caller may see, newest first, with their number', async () => {
  covers('listEnvironments');
  covers('listEnvironments', 'reply');
  const response = await call('listEnvironments');
  assert.deepEqual(fieldOf(response.json<{ name: string }[]>(), 'name'), all);
  assert.equal(response.headers['x-total-count'], '6');
  assert.deepEqual(
    (await ok(app, 'listEnvironments', { as: colleague })).map(({ name }) => name),
    all.filter((name) => name !== 'network'),
  );
});

test('organization and project narrow the list', async () => {
  covers('listEnvironments', 'query.organizationId', 'query.projectId');
  assert.deepEqual(await names({ organizationId: otherOrganization }), ['network']);
  assert.deepEqual(await names({ projectId: second }), ['Network']);
  assert.deepEqual(await names({ organizationId: app.organizationId, projectId: second }), ['Network']);
  assert.deepEqual(await names({ organizationId: otherOrganization, projectId: second }), []);
});

test('the name filter is exact and case-sensitive', async () => {
  covers('listEnvironments', 'query.name');
  assert.deepEqual(await names({ name: 'network' }), ['network']);
  assert.deepEqual(await names({ name: 'netw' }), []);
  assert.deepEqual(await names({ name: 'a%b_c\\d' }), ['a%b_c\\d']);
  assert.deepEqual(await names({ name: '%' }), []);
});

test('characters that are special to the database are matched literally', async () => {
  covers('listEnvironments', 'query.searchText', 'query.workspaceNamePrefix', 'query.workspaceName');
  assert.deepEqual(await names({ searchText: '%' }), ['a%b_c\\d']);
  assert.deepEqual(await names({ searchText: 'b_c\\' }), ['a%b_c\\d']);
  assert.deepEqual(await names({ searchText: 'NETW' }), ['network', 'Network']);
  assert.deepEqual(await names({ searchText: archived.id.slice(-12) }), ['archived']);
  assert.deepEqual(await names({ searchText: 'pre_' }), ['a%b_c\\d']);
  assert.deepEqual(await names({ searchText: "' or 1=1 --" }), []);
  assert.deepEqual(await names({ workspaceNamePrefix: 'pre_' }), ['a%b_c\\d']);
  assert.deepEqual(await names({ workspaceNamePrefix: 'pre' }), ['axbyczd', 'a%b_c\\d']);
  assert.deepEqual(await names({ workspaceName: 'prexone' }), ['axbyczd']);
  assert.deepEqual(await names({ workspaceName: 'prex' }), []);
});

test('the list can be filtered by own, active, archived and remote-backend environments', async () => {
  covers(
    'listEnvironments',
    'query.onlyMy',
    'query.isActive',
    'query.isRemoteBackend',
    'query.includeSubEnvironments',
  );
  covers('Environment', 'isArchived', 'isRemoteBackend');
  assert.deepEqual(
    (await ok(app, 'listEnvironments', { query: { onlyMy: 'true' }, as: colleague })).map(({ name }) => name),
    ['theirs'],
  );
  assert.deepEqual(
    await names({ onlyMy: 'true' }),
    all.filter((name) => name !== 'theirs'),
  );
  assert.deepEqual(await names({ onlyMy: 'false' }), all);
  assert.deepEqual(await names({ isActive: 'false' }), ['archived']);
  assert.deepEqual(await names({ isActive: 'true' }), all.slice(1));
  assert.deepEqual(await names({ isRemoteBackend: 'true' }), ['axbyczd']);
  const listed = await ok(app, 'listEnvironments');
  assert.deepEqual(
    listed.map(({ isArchived, isRemoteBackend }) => [isArchived, isRemoteBackend]),
    all.map((name) => [name === 'archived', name === 'axbyczd']),
  );
  const [root] = await ok(app, 'listEnvironments', { query: { name: 'Network' } });
  await sql('update environment set workflow_environment_id = $1 where name = $2', root?.id, 'axbyczd');
  assert.ok(!(await names()).includes('axbyczd'));
  assert.ok((await names({ includeSubEnvironments: 'true' })).includes('axbyczd'));
  await sql("update environment set workflow_environment_id = null where name = 'axbyczd'");
});

test('pages follow each other without a gap, even when times are equal', async () => {
  covers('listEnvironments', 'query.limit', 'query.offset');
  await sql('update environment set created_at = now()');
  const paged: string[] = [];
  for (let offset = 0; offset < 8; offset += 2) {
    const response = await call('listEnvironments', { query: { limit: '2', offset: String(offset) } });
    assert.equal(response.headers['x-total-count'], '6');
    paged.push(...response.json<{ name: string }[]>().map(({ name }) => name));
  }
  assert.deepEqual(paged, await names());
  assert.equal(paged.length, 6);
});

test('fields are excluded by their paths', async () => {
  covers('listEnvironments', 'query.excludeFields');
  const [environment] = await ok(app, 'listEnvironments', {
    query: { excludeFields: 'user,latestDeploymentLog.startedByUser.email, nothing.at.all' },
  });
  assert.ok(environment);
  assert.deepEqual(['user' in environment, 'userId' in environment], [false, true]);
  assert.deepEqual(
    [
      environment.latestDeploymentLog.startedByUser.email,
      environment.latestDeploymentLog.startedByUser.user_id,
    ],
    [undefined, app.admin.id],
  );
});

test('a page of busy environments does not cost queries for each of them', async () => {
  const busy = await testApp();
  const queries = async () => {
    let count = 0;
    const counting = () => void count++;
    busy.database.pool.on('acquire', counting);
    await ok(busy, 'listEnvironments');
    busy.database.pool.off('acquire', counting);
    return count;
  };
  for (let index = 0; index < 2; index++)
    await ok(busy, 'createEnvironmentWithoutTemplate', { body: createBody(busy) });
  const few = await queries();
  for (let index = 0; index < 8; index++) {
    const { id } = await ok(busy, 'createEnvironmentWithoutTemplate', { body: createBody(busy) });
    await ok(busy, 'deployEnvironment', { id });
  }
  assert.equal(await queries(), few);
});
