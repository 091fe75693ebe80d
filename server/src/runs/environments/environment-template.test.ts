import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { fieldOf } from '../../../testing/fields.ts';
import { startAgentTests } from '../../../testing/start.ts';

const tests = await startAgentTests();
const { app, organizationId, projectId, ok, refused, sql } = tests;
const { add, keyFor, createActive, createIdle, deploy, environmentOf, forgetWork } = tests;

beforeEach(() => forgetWork());

const setTemplate = (id: string, body: object, more: object = {}) =>
  ok('setEnvironmentTemplate', { id, body, ...more });
const repository = 'https://git.example.com/other.git';
const makeTemplate = (name: string, more: object = {}) =>
  add('Template', name, { type: 'terraform', repository, projectIds: [projectId], ...more });

test('the template of an environment becomes one that others can use, and its runs stay the same', async () => {
  const { id, blueprintId } = await createActive({ revision: 'main', path: 'live' });
  const saved = await setTemplate(id, { newName: 'network' });
  assert.equal(saved.isSingleUseBlueprint, false);
  const template = await ok('getTemplate', { id: blueprintId });
  assert.deepEqual(
    [template.name, template.isSingleUse, template.projectId, template.revision, template.path],
    ['network', false, projectId, 'main', 'live'],
  );
  const listed = await ok('listTemplates', { query: { projectId } });
  assert.deepEqual(fieldOf(listed, 'id'), [blueprintId]);
  const other = await ok('createEnvironment', {
    body: { name: 'second', projectId, preventAutoDeploy: true, deployRequest: { blueprintId } },
  });
  assert.equal(other.isSingleUseBlueprint, false);
  // Another revision is now the environment's own choice.
  await deploy(id, { blueprintRevision: 'next' });
  assert.equal((await ok('getTemplate', { id: blueprintId })).revision, 'main');
  const again = await refused('setEnvironmentTemplate', 409, { id, body: { newName: 'b' } });
  assert.match(again.message, /already uses the template "network"/);
  const { id: third } = await createIdle();
  const taken = await refused('setEnvironmentTemplate', 409, { id: third, body: { newName: 'network' } });
  assert.match(taken.message, /named "network" already exists/);
  assert.equal((await environmentOf(third)).isSingleUseBlueprint, true);
});

test('another template is used from the next deployment on, and nothing is deployed at once', async () => {
  const { id: templateId } = await makeTemplate('vpc', { revision: 'stable' });
  const environment = await createActive();
  const { id } = environment;
  const before = await environmentOf(id);
  const changed = await setTemplate(id, { blueprintId: templateId });
  assert.deepEqual(
    [changed.isSingleUseBlueprint, changed.latestDeploymentLogId, changed.status],
    [false, before.latestDeploymentLogId, 'ACTIVE'],
  );
  const next = await deploy(id);
  assert.deepEqual(
    [next.blueprintId, next.blueprintRepository, next.blueprintRevision],
    [templateId, repository, 'stable'],
  );
  const body = { blueprintId: environment.blueprintId };
  const { message } = await refused('setEnvironmentTemplate', 409, { id, body });
  assert.match(message, /cannot change while the deploy .* is IN_PROGRESS/);
});

test('the template that the environment already has leaves no entry in the trail, and no event', async () => {
  const { id, blueprintId } = await createIdle();
  const traces = async () => {
    const rows = await sql<{ entries: string; events: string }>(
      `select (select count(*) from audit_event where action = 'environment.updated' and entity_id = $1) as entries,
        (select count(*) from organization_event
         where data->>'environmentId' = $1 and data->>'change' = 'updated') as events`,
      id,
    );
    return [Number(rows[0]?.entries), Number(rows[0]?.events)];
  };
  assert.equal((await setTemplate(id, { blueprintId })).isSingleUseBlueprint, true);
  assert.deepEqual(await traces(), [0, 0]);
  const { id: other } = await makeTemplate('traced');
  await setTemplate(id, { blueprintId: other });
  assert.deepEqual(await traces(), [1, 1]);
  await setTemplate(id, { blueprintId: other });
  assert.deepEqual(await traces(), [1, 1]);
});

test('exactly one of both is required, a template that can be used there, and the rights for it', async () => {
  const { id } = await createIdle();
  const refuse = async (status: number, body: object, as = app.admin) =>
    (await refused('setEnvironmentTemplate', status, { id, body, as })).message;
  const { id: unassigned } = await makeTemplate('elsewhere', { projectIds: [] });
  const { id: usable } = await makeTemplate('usable');
  assert.match(await refuse(400, {}), /newName.* is required, and not both/);
  assert.match(await refuse(400, { newName: 'a', blueprintId: usable }), /not both/);
  assert.match(await refuse(400, { blueprintId: organizationId }), /blueprintId does not match any template/);
  assert.match(await refuse(400, { blueprintId: unassigned }), /not assigned to the project/);
  const rights = ['VIEW_ENVIRONMENT', 'EDIT_ENVIRONMENT_SETTINGS'] as const;
  const editor = await app.addKey({ [organizationId]: [...rights] });
  assert.match(await refuse(403, { newName: 'a' }, editor), /CREATE_AND_EDIT_TEMPLATES/);
  assert.match(await refuse(403, { blueprintId: usable }, editor), /RUN_APPLY/);
  // The right in the environment alone makes no template in the project.
  const single = await keyFor([...rights, 'CREATE_AND_EDIT_TEMPLATES'], { environmentId: id });
  assert.match(await refuse(403, { newName: 'a' }, single), /CREATE_AND_EDIT_TEMPLATES/);
});
