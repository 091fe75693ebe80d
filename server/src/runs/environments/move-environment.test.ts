import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { fieldsOf } from '../../../testing/fields.ts';
import { startAgentTests } from '../../../testing/start.ts';

const tests = await startAgentTests();
const { app, organizationId, call, ok, refused, sql, add, createActive, createEnvironment } = tests;
const { createIdle, deploy, deploymentOf, environmentOf, forgetWork } = tests;
const project = (name: string) => add('Project', name);
const target = await project('target');
const move = (id: string, projectId: string) => ok('moveEnvironment', { id, body: { projectId } });

test('an environment moves with its state, its history, its variables and its own template', async () => {
  const made = await createActive({ configurationChanges: { name: 'A', value: 'b', type: 0 } });
  const before = await environmentOf(made.id);
  const versions = await ok('listStateVersions', { id: made.id });
  assert.equal(versions.length, 1);
  const moved = await move(made.id, target.id);
  const { updatedAt: _, ...rest } = moved;
  const { updatedAt: __, ...same } = before;
  assert.deepEqual(rest, { ...same, projectId: target.id, projectName: target.name });
  assert.deepEqual(await ok('listStateVersions', { id: made.id }), versions);
  const history = await ok('listDeployments', { id: made.id });
  assert.deepEqual(fieldsOf(history, 'id', 'status'), [[before.latestDeploymentLogId, 'SUCCESS']]);
  const [step] = await ok('listSteps', { params: { deploymentLogId: history[0]?.id ?? '' } });
  assert.equal(step?.projectId, target.id);
  const template = await ok('getTemplate', { id: made.blueprintId });
  assert.deepEqual([template.projectId, template.projectIds], [target.id, [target.id]]);
  const ids = async (projectId: string) =>
    (await ok('listEnvironments', { query: { projectId } })).map(({ id }) => id);
  assert.deepEqual([await ids(target.id), (await ids(app.projectId)).includes(made.id)], [[made.id], false]);
  assert.deepEqual(await move(made.id, target.id), moved, 'moved twice is moved once');
  const rows = await sql(
    "select details from audit_event where action = 'environment.moved' and entity_id = $1",
    made.id,
  );
  assert.deepEqual(rows, [{ details: { from: app.projectId, to: target.id } }]);
});

test('the variables of the new project apply from the next deployment on', async () => {
  const { id: variableId } = { id: randomUUID() };
  await sql(
    "insert into variable (id, organization_id, scope, scope_id, name, type, sealed_value, user_id) values ($1, $2, 'PROJECT', $3, 'REGION', 0, $4, 'admin')",
    variableId,
    organizationId,
    target.id,
    app.context.sealer.seal('north', { table: 'variable', row: variableId, field: 'sealed_value' }),
  );
  const { id } = await createIdle();
  const namesOf = async () => {
    const deployment = await deploy(id);
    await forgetWork();
    await ok('abortDeployment', { id: deployment.id });
    await sql("update deployment set status = 'ABORTED' where id = $1", deployment.id);
    return ((await deploymentOf(deployment.id)).variables ?? []).map(({ name }) => name);
  };
  assert.deepEqual(await namesOf(), []);
  await move(id, target.id);
  assert.deepEqual(await namesOf(), ['REGION']);
});

test('an environment cannot move to an invalid place, or while a deployment is under way', async () => {
  const { id } = await createIdle();
  const archived = await project('put away');
  await ok('deleteProject', { id: archived.id });
  const { id: elsewhere } = await ok('createOrganization', { body: { name: 'Elsewhere' } });
  const [foreign] = await ok('listProjects', { query: { organizationId: elsewhere } });
  const hidden = await ok('getTestingProject', { params: { organizationId: app.organizationId } });
  const refusals: [unknown, RegExp][] = [
    [archived.id, /\/body\/projectId refers to "put away", which is archived/],
    [randomUUID(), /\/body\/projectId does not match a project/],
    ['no-uuid', /\/body\/projectId does not match a project/],
    [foreign?.id, /\/body\/projectId does not match a project/],
    [hidden.id, /\/body\/projectId does not match a project/],
    ['', /\/body\/projectId/],
    [undefined, /\/body\/projectId is required/],
  ];
  for (const [projectId, message] of refusals)
    await refused('moveEnvironment', 400, message, { id, body: { projectId } });
  await refused('moveEnvironment', 404, { id: randomUUID(), body: { projectId: target.id } });
  await sql(
    'update template set is_single_use = false where id = (select template_id from environment where id = $1)',
    id,
  );
  await refused('moveEnvironment', 400, /template .* is not assigned/, {
    id,
    body: { projectId: target.id },
  });
  const busy = await createEnvironment();
  const body = { projectId: target.id };
  await refused('moveEnvironment', 409, /has a deploy that is IN_PROGRESS/, { id: busy.id, body });
  assert.equal((await environmentOf(busy.id)).projectId, app.projectId);
  await forgetWork();
});

test('a simultaneous move and deployment happen one after the other', async () => {
  for (let round = 0; round < 4; round++) {
    const { id } = await createIdle();
    const [moved, deployed] = await Promise.all([
      call('moveEnvironment', { id, body: { projectId: target.id } }),
      call('deployEnvironment', { id }),
    ]);
    assert.equal(deployed.statusCode, 200);
    assert.ok(moved.statusCode === 200 || moved.statusCode === 409);
    const environment = await environmentOf(id);
    assert.equal(environment.projectId, moved.statusCode === 200 ? target.id : app.projectId);
    const rows = await sql('select distinct project_id from deployment where environment_id = $1', id);
    assert.deepEqual(rows, [{ project_id: environment.projectId }]);
    await forgetWork();
  }
});
