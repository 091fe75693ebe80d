import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testApp } from '../testing/app.ts';
import { ok, refused } from '../testing/client.ts';

const app = await testApp();

test('an installation has one organization with a project, and whoever makes another is its admin', async () => {
  const [first] = await ok(app, 'listOrganizations');
  assert.deepEqual([first?.id, first?.role, first?.maxTtl, first?.isSelfHosted], [app.organizationId, 'Admin', null, true]);
  const made = await ok(app, 'createOrganization', { body: { name: 'Second one', description: 'd', photoUrl: 'https://x/p.png' } });
  assert.deepEqual(
    [made.name, made.description, made.photoUrl, made.role, made.createdBy],
    ['Second one', 'd', 'https://x/p.png', 'Admin', 'admin'],
  );
  assert.deepEqual(
    (await ok(app, 'listOrganizations')).map(({ id }) => id),
    [made.id, app.organizationId],
  );
  assert.deepEqual(await ok(app, 'getOrganization', { params: { id: made.id } }), made);
  assert.deepEqual(
    (await ok(app, 'listProjects', { query: { organizationId: made.id } })).map(({ name }) => name),
    ['Default'],
  );
  for (const name of ['', '-x', 'x'.repeat(51), 'a/b'])
    assert.match((await refused(app, 'createOrganization', 400, { body: { name } })).message, /\/body\/name/);
});
