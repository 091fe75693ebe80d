import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { gitFolder } from '../../../testing/git-repository.ts';
import { startTests } from '../../../testing/start.ts';

const folder = gitFolder();
after(() => folder[Symbol.dispose]());
const { app, ok, refused } = await startTests({ ENVARIUM_GIT_LOCAL_PATHS: folder.path });

const schema = { type: 'object', properties: { limit: { type: 'integer', default: 3 } } };
const { path: repository } = folder.repository('policies', {
  'limited/policy.rego': 'package envarium',
  'limited/configurationSchema.json': JSON.stringify(schema),
  'plain/policy.rego': 'package envarium',
  'broken/configurationSchema.json': '{"type": ',
  'list/configurationSchema.json': '[]',
});
const query = (path: string) => ({ query: { repository, path } });

test('the schema of a policy is read from its folder', async () => {
  assert.deepEqual(await ok('getPolicySchema', query('limited')), { configurationSchema: schema });
  assert.deepEqual(await ok('getPolicySchema', query('plain')), {});
  assert.deepEqual(await ok('getPolicySchema', query('')), {});
});

test('a schema that cannot be read is refused with its file, a missing folder with its name', async () => {
  const message = async (status: number, path: string) =>
    (await refused('getPolicySchema', status, query(path))).message;
  assert.match(await message(422, 'broken'), /broken\/configurationSchema\.json: .*JSON/);
  assert.match(await message(422, 'list'), /list\/configurationSchema\.json must contain a JSON object/);
  assert.match(await message(400, 'gone'), /\/query\/path.*"gone" is not a folder/);
  assert.match(await message(400, '../out'), /\/query\/path/);
});

test('callers who may not read repositories may not read schemas', async () => {
  const reader = await app.addKey({ [app.organizationId]: 'User' });
  await refused('getPolicySchema', 403, { ...query('limited'), as: reader });
});
