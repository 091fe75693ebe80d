import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { startTests } from '../../../testing/start.ts';

const { app, organizationId, projectId, ok, refused, add, keyFor, createIdle } = await startTests();
const environment = await createIdle();
const params = { scope: 'environment', scopeId: environment.id };

const createSet = async (name: string, scope: string, scopeId: string) =>
  (await ok('createConfigurationSet', { body: { name, scope, scopeId } })).id;
const assigned = async () =>
  (await ok('listSetAssignments', { params })).map(({ id, assignmentScope }) => [id, assignmentScope]);

test('the older form assigns one set, and again changes nothing', async () => {
  const id = await createSet('one', 'organization', organizationId);
  for (let time = 0; time < 2; time++) {
    assert.equal(await ok('assignConfigurationSet', { params: { ...params, id }, body: {} }), null);
    assert.deepEqual(await assigned(), [[id, 'environment']]);
  }
});

test('a set that is unknown is not found, one that is hidden needs a right, and the rights of the place count', async () => {
  const { id: other } = await add('Project', 'other');
  const hidden = await createSet('hidden', 'project', other);
  const mine = await createSet('mine', 'project', projectId);
  const as = await app.addKey({ [organizationId]: 'User' }, [
    { organizationId, projectId, role: ['VIEW_PROJECT', 'VIEW_ENVIRONMENT'] },
    { organizationId, environmentId: environment.id, role: ['EDIT_ENVIRONMENT_SETTINGS'] },
  ]);
  const before = await assigned();
  for (const id of [randomUUID(), 'none']) {
    const { message } = await refused('assignConfigurationSet', 404, { params: { ...params, id }, as });
    assert.equal(message, `No configuration set with id "${id}" was found`);
  }
  const unseen = await refused('assignConfigurationSet', 403, { params: { ...params, id: hidden }, as });
  assert.match(unseen.message, /needs the right VIEW_PROJECT/);
  const elsewhere = await refused('assignConfigurationSet', 400, { params: { ...params, id: hidden } });
  assert.match(elsewhere.message, /can be assigned in that project and below it only/);
  const viewer = await keyFor(['VIEW_PROJECT', 'VIEW_ENVIRONMENT'], { projectId });
  await refused('assignConfigurationSet', 403, /EDIT_ENVIRONMENT_SETTINGS/, {
    params: { ...params, id: mine },
    as: viewer,
  });
  assert.deepEqual(await assigned(), before);
});
