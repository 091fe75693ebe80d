import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { fieldOf } from '../../../testing/fields.ts';
import { startTests } from '../../../testing/start.ts';

const { organizationId, call, ok, refused, sql } = await startTests();
const create = (body: object) => ok('createProject', { body: { organizationId, ...body } });

test('projects form trees, whose paths start at the root', async () => {
  const root = await create({ name: 'platform', description: 'd', tags: ['a', 'b'] });
  assert.deepEqual(
    [root.hierarchy, root.parentProjectId, root.tags, root.description, root.createdByUser?.name],
    [root.id, undefined, ['a', 'b'], 'd', 'First admin key'],
  );
  const child = await create({ name: 'network', parentProjectId: root.id, tags: null });
  const leaf = await create({ name: 'dns', parentProjectId: child.id });
  assert.equal(leaf.hierarchy, [root.id, child.id, leaf.id].join('|'));
  assert.deepEqual(await ok('getProject', { id: leaf.id }), leaf);
  const all = await ok('listProjects', { query: { organizationId } });
  assert.deepEqual(fieldOf(all, 'name'), ['dns', 'network', 'platform', 'Default']);
});

test('a name is unique within a parent', async () => {
  const root = await create({ name: 'once' });
  await refused('createProject', 409, /"once"/, { body: { organizationId, name: 'once' } });
  await create({ name: 'once', parentProjectId: root.id });
  const replies = await Promise.all(
    Array.from({ length: 4 }, () => call('createProject', { body: { organizationId, name: 'at once' } })),
  );
  assert.deepEqual(replies.map(({ statusCode }) => statusCode).toSorted(), [200, 409, 409, 409]);
});

test('an unknown parent is refused by name', async () => {
  const { id: elsewhere } = await ok('createOrganization', { body: { name: 'Elsewhere' } });
  const [foreign] = await ok('listProjects', { query: { organizationId: elsewhere } });
  for (const parentProjectId of [randomUUID(), 'no-uuid', foreign?.id]) {
    await refused('createProject', 400, /\/body\/parentProjectId/, {
      body: { organizationId, name: 'x', parentProjectId },
    });
  }
  const archived = await create({ name: 'archived' });
  await sql('update project set is_archived = true where id = $1', archived.id);
  await refused('createProject', 409, { body: { organizationId, name: 'x', parentProjectId: archived.id } });
  const body = {
    name: 'n',
    organizationId,
    projectId: archived.id,
    repository: 'https://x/y.git',
    type: 'terraform',
  };
  await refused('createEnvironmentWithoutTemplate', 409, /archived/, { body });
});
