import assert from 'node:assert/strict';
import { test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import { startTests } from '../../../testing/start.ts';

const { app, call, ok, sql, add, createIdle } = await startTests();
const repository = 'https://git.example.com/code.git';
const { id: second } = await add('Project', 'Second');
const names = async (query: Record<string, string> = {}) =>
  (await ok('listEnvironments', { query })).map(({ name }) => name);

test('search covers current name, workspace, id, repository and project name', async () => {
  covers('listEnvironments', 'query.searchText');
  const { id: projectId } = await add('Project', 'Payments');
  const { id } = await createIdle({
    name: 'searched',
    projectId,
    repository: 'https://git.example.com/acme/Ledger.git',
  });
  assert.deepEqual(await names({ searchText: 'ACME/ledg' }), ['searched']);
  assert.deepEqual(await names({ searchText: 'paym' }), ['searched']);
  await ok('updateEnvironment', { id, body: { name: 'found' } });
  assert.deepEqual(
    [await names({ searchText: 'searched' }), await names({ searchText: 'foun' })],
    [[], ['found']],
  );
  await ok('deployEnvironment', {
    id,
    body: { blueprintRepository: 'https://git.example.com/acme/journal.git' },
  });
  assert.deepEqual(
    [await names({ searchText: 'ledger' }), await names({ searchText: 'journal' })],
    [[], ['found']],
  );
  const rows = await sql("select from pg_indexes where indexname = 'environment_by_part'");
  assert.equal(rows.length, 1, 'the index of parts of words is there');
});

test('tags keep their order, are listed once, and filter the list', async () => {
  covers('listEnvironments', 'query.tag');
  covers('createEnvironmentWithoutTemplate', 'body.tags');
  covers('Environment', 'tags');
  const tags = ['zeta', 'team:net', 'a b'];
  const { id } = await createIdle({ name: 'tagged', tags, projectId: second, repository });
  await createIdle({ name: 'tagged too', tags: ['zeta'], repository });
  assert.deepEqual((await ok('getEnvironment', { id })).tags, tags);
  const list = (query: Record<string, string>) => ok('listEnvironmentTags', { query });
  assert.deepEqual(await list({ organizationId: app.organizationId }), ['a b', 'team:net', 'zeta']);
  assert.deepEqual(await list({ projectId: app.projectId }), ['zeta']);
  assert.deepEqual(await names({ tag: 'zeta' }), ['tagged too', 'tagged']);
  assert.deepEqual(await names({ tag: 'team' }), []);
  const update = (body: object) => ok('updateEnvironment', { id, body });
  assert.deepEqual((await update({ name: 'same tags' })).tags, tags);
  assert.deepEqual((await update({ tags: null })).tags, [], 'null clears them');
  assert.deepEqual(await list({ organizationId: app.organizationId }), ['zeta']);
  assert.equal((await call('updateEnvironment', { id, body: { tags: ['a', 'a'] } })).statusCode, 400);
  assert.equal((await call('listEnvironmentTags')).statusCode, 400);
});

test('excluded large fields are not read, and the others are unchanged', async () => {
  covers('listEnvironments', 'query.excludeFields');
  const paths = ['plan', 'variables', 'output'].map((name) => `latestDeploymentLog.${name}`).join(',');
  const [full] = await ok('listEnvironments', { query: { limit: '1' } });
  const [light] = await ok('listEnvironments', { query: { limit: '1', excludeFields: paths } });
  assert.ok(full);
  const { plan: _, variables: __, output: ___, ...rest } = full.latestDeploymentLog;
  assert.deepEqual(light, { ...full, latestDeploymentLog: rest });
});
