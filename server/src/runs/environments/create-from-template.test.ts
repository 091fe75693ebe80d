import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { fieldOf } from '../../../testing/fields.ts';
import { startAgentTests } from '../../../testing/start.ts';

const tests = await startAgentTests();
const { app, agent, organizationId, projectId, ok, refused, sql, add, keyFor, createEnvironment } = tests;
const { createIdle, deploy, environmentOf, forgetWork, templateBody, createTemplate, createFrom } = tests;
const other = await add('Project', 'Other');

const replace = (id: string, body: object) => ok('updateTemplate', { id, body });

/** Code that the newest deployment of an environment runs. */
async function codeOf(id: string) {
  const { latestDeploymentLog: log } = await environmentOf(id);
  return {
    blueprintId: log.blueprintId,
    name: log.blueprintName,
    repository: log.blueprintRepository,
    revision: log.blueprintRevision,
    path: log.blueprintPath,
  };
}

test('an environment runs the code of its template, which stays shared', async () => {
  const template = await createTemplate({ revision: 'main', path: 'infra', terraformVersion: '1.5.7' });
  const created = await createFrom(template.id, { requiresApproval: false });
  assert.deepEqual(
    [created.status, created.blueprintId, created.isSingleUseBlueprint],
    ['CREATED', template.id, false],
  );
  const job = await agent.claim();
  assert.deepEqual(
    [job.source.repository, job.source.revision, job.source.path, job.toolVersion],
    [template.repository, 'main', 'infra', '1.5.7'],
  );
  assert.deepEqual(await codeOf(created.id), {
    blueprintId: template.id,
    name: template.name,
    repository: template.repository,
    revision: 'main',
    path: 'infra',
  });
  const [listed] = await ok('listEnvironments', { query: { name: 'network', projectId } });
  assert.equal(listed?.isSingleUseBlueprint, false);
  const idle = await createFrom(template.id, { preventAutoDeploy: true, description: 'second' });
  assert.deepEqual([idle.status, idle.description], ['NEVER_DEPLOYED', 'second']);
  await ok('deleteEnvironment', { id: idle.id });
  assert.equal((await ok('getTemplate', { id: template.id })).isDeleted, false);
  await forgetWork();
});

test('a template that the project cannot use is refused by name', async () => {
  const elsewhere = await createTemplate({ projectIds: [other.id] });
  const deleted = await createTemplate();
  await ok('deleteTemplate', { id: deleted.id });
  const workflow = await createTemplate({ type: 'workflow' });
  const cases: [unknown, RegExp][] = [
    [elsewhere.id, /is not assigned to the project/],
    [deleted.id, /was deleted/],
    [workflow.id, /of type workflow, which cannot be run by this version/],
    [randomUUID(), /does not match any template/],
    ['none', /does not match any template/],
    ['', /is required/],
    [undefined, /is required/],
  ];
  for (const [blueprintId, message] of cases) {
    const body = { name: 'n', projectId, deployRequest: { blueprintId }, preventAutoDeploy: true };
    const refusal = await refused('createEnvironment', 400, { body });
    assert.match(refusal.message, /^\/body\/deployRequest\/blueprintId /);
    assert.match(refusal.message, message);
  }
  const template = await createTemplate();
  const body = { name: 'n', projectId, deployRequest: { blueprintId: template.id } };
  const workflowType = await refused('createEnvironment', 400, { body: { ...body, type: 'workflow' } });
  assert.match(workflowType.message, /\/body\/type must be the type of the template, terraform/);
  const elsewhereToo = { ...body, deployRequest: { ...body.deployRequest, blueprintRevision: '-x' } };
  await refused('createEnvironment', 400, /\/body\/deployRequest\/blueprintRevision is refused/, {
    body: elsewhereToo,
  });
  const { statusCode } = await app.app.inject({ method: 'GET', url: '/api/environments?name=n' });
  assert.equal(statusCode, 401);
  assert.deepEqual(await ok('listEnvironments', { query: { name: 'n' } }), []);
});

test('people who may only plan create environments from templates, not from other repositories', async () => {
  const template = await createTemplate();
  const planner = await keyFor('Planner', { projectId });
  const body = { name: 'planned', projectId, deployRequest: { blueprintId: template.id } };
  const created = await ok('createEnvironment', { body, as: planner });
  assert.equal(created.requiresApproval, true);
  await forgetWork();
  await refused('createEnvironment', 403, { body: { ...body, requiresApproval: false }, as: planner });
  const moved = {
    ...body,
    deployRequest: { ...body.deployRequest, blueprintRepository: 'https://git.example.com/mine.git' },
  };
  const { message } = await refused('createEnvironment', 403, { body: moved, as: planner });
  assert.match(message, /blueprintRepository needs the right CREATE_VCS_ENVIRONMENT/);
  const own = { ...body, organizationId, repository: 'https://git.example.com/a.git', type: 'terraform' };
  await refused('createEnvironmentWithoutTemplate', 403, { body: own, as: planner });
});

test('a template of a project that the caller may not see needs the right, wherever it is named', async () => {
  const ofOther = { creationScope: 'PROJECT', creationScopeId: other.id, projectIds: [] };
  const hidden = await createTemplate(ofOther);
  const environment = await createIdle();
  const as = await keyFor('Admin', { projectId });
  const deployRequest = { blueprintId: hidden.id };
  const created = await refused('createEnvironment', 403, {
    body: { name: 'n', projectId, deployRequest },
    as,
  });
  assert.match(created.message, /^\/body\/deployRequest\/blueprintId needs the right VIEW_PROJECT/);
  const switched = { id: environment.id, body: deployRequest, as };
  await refused('deployEnvironment', 403, /^\/body\/blueprintId needs the right VIEW_PROJECT/, switched);
});

test('a revision of the environment replaces that of the template, until it is emptied', async () => {
  const template = await createTemplate({ revision: 'main' });
  const { id } = await createFrom(template.id, { preventAutoDeploy: true }, { blueprintRevision: 'v1' });
  assert.equal((await codeOf(id)).revision, 'v1');
  const body = templateBody({ name: template.name, revision: 'release' });
  await replace(template.id, { ...body, path: 'a' });
  assert.deepEqual(await codeOf(id), {
    blueprintId: template.id,
    name: template.name,
    repository: template.repository,
    revision: 'v1',
    path: 'a',
  });
  const run = async (request: object) => {
    const { id: deploymentId, blueprintRevision } = await deploy(id, request);
    await ok('cancelDeployment', { id: deploymentId }).catch(() => undefined);
    return blueprintRevision;
  };
  assert.equal(await run({}), 'v1');
  assert.equal(await run({ blueprintRevision: 'v2' }), 'v2');
  assert.equal(await run({}), 'v2');
  assert.equal(await run({ deploymentType: 'prPlan', blueprintRevision: 'feature' }), 'feature');
  assert.equal(await run({ blueprintRevision: '' }), 'release');
  assert.equal((await ok('getTemplate', { id: template.id })).revision, 'release');
  await forgetWork();
});

test('a repository of the environment leaves the template alone, and is found by searching', async () => {
  const template = await createTemplate();
  const mine = 'https://git.example.com/my-fork.git';
  const { id } = await createFrom(template.id, {}, { blueprintRepository: mine });
  assert.equal((await codeOf(id)).repository, mine);
  const found = await ok('listEnvironments', { query: { searchText: 'my-fork' } });
  assert.deepEqual(fieldOf(found, 'id'), [id]);
  const viewer = await keyFor('Deployer', { projectId });
  const again = { id, body: { blueprintRepository: template.repository }, as: viewer };
  await refused('deployEnvironment', 403, /EDIT_VCS_ENVIRONMENT/, again);
  await deploy(id, { blueprintRepository: template.repository });
  assert.deepEqual(await ok('listEnvironments', { query: { searchText: 'my-fork' } }), []);
  assert.equal((await ok('getTemplate', { id: template.id })).repository, template.repository);
  await forgetWork();
});

test('a deployment switches the template for itself and all later ones', async () => {
  const first = await createTemplate({ revision: 'main' });
  const second = await createTemplate({ revision: 'trunk', path: 'b' });
  await ok('createEnvironment', {
    body: { name: 'x', projectId, deployRequest: { blueprintId: first.id }, preventAutoDeploy: true },
  });
  const { id } = await createFrom(first.id, { preventAutoDeploy: true }, { blueprintRevision: 'v1' });
  const planned = { id, body: { blueprintId: second.id, deploymentType: 'prPlan' } };
  const { message } = await refused('deployEnvironment', 400, planned);
  assert.match(message, /\/body\/blueprintId must be the template of the environment for a prPlan/);
  const elsewhere = await createTemplate({ projectIds: [] });
  const unassigned = { id, body: { blueprintId: elsewhere.id } };
  await refused('deployEnvironment', 400, /is not assigned/, unassigned);
  assert.equal((await codeOf(id)).blueprintId, first.id);
  await deploy(id, { blueprintId: second.id });
  await agent.plan();
  assert.equal((await environmentOf(id)).status, 'WAITING_FOR_USER');
  const code = await codeOf(id);
  assert.deepEqual([code.blueprintId, code.revision, code.path], [second.id, 'trunk', 'b']);
  const back = { id, body: { blueprintId: first.id } };
  await refused('deployEnvironment', 409, /waits for approval/, back);
  await deploy(id, { blueprintId: second.id, comment: 'with the same template' });
  const rows = await sql(
    "select details from audit_event where action = 'environment.sourceChanged' and entity_id = $1",
    id,
  );
  assert.deepEqual(rows[0].details.templateId, { from: first.id, to: second.id });
  await forgetWork();
});

test('an environment without a template gets one, and its own is removed with it', async () => {
  const template = await createTemplate();
  const created = await createIdle();
  await deploy(created.id, { blueprintId: template.id });
  const { isSingleUseBlueprint, latestDeploymentLog } = await environmentOf(created.id);
  assert.deepEqual([isSingleUseBlueprint, latestDeploymentLog.blueprintId], [false, template.id]);
  assert.equal(
    (await ok('getTemplate', { id: created.blueprintId })).isSingleUse,
    true,
    'earlier deployments still show it',
  );
  await ok('abortDeployment', { id: latestDeploymentLog.id ?? '' }).catch(() => undefined);
  await forgetWork();
  await sql("update deployment set status = 'ABORTED' where environment_id = $1", created.id);
  await ok('deleteEnvironment', { id: created.id });
  await refused('getTemplate', 404, { id: created.blueprintId });
  await ok('getTemplate', { id: template.id });
});

test('environments of a deleted or removed template are deployed and destroyed as before', async () => {
  const template = await createTemplate();
  const { id } = await createFrom(template.id, { requiresApproval: false });
  await agent.run();
  await ok('removeTemplateFromProject', { params: { id: template.id, projectId } });
  await ok('deleteTemplate', { id: template.id });
  await deploy(id, { blueprintId: template.id });
  await agent.run();
  assert.equal((await environmentOf(id)).status, 'ACTIVE');
  await ok('destroyEnvironment', { id });
  await agent.run([]);
  assert.equal((await environmentOf(id)).status, 'INACTIVE');
});

test('a destroy runs the template that was deployed, not one that was only tried', async () => {
  const first = await createTemplate({ path: 'one' });
  const second = await createTemplate({ path: 'two' });
  const { id } = await createFrom(first.id, { requiresApproval: false });
  await agent.run();
  await ok('updateEnvironment', { id, body: { requiresApproval: true } });
  const tried = await deploy(id, { blueprintId: second.id });
  await agent.plan();
  await ok('cancelDeployment', { id: tried.id });
  const destroy = await ok('destroyEnvironment', { id });
  assert.deepEqual([destroy.blueprintId, destroy.blueprintPath], [first.id, 'one']);
  await forgetWork();
});

test('an environment moves only where its template is assigned', async () => {
  const template = await createTemplate();
  const { id } = await createFrom(template.id, { preventAutoDeploy: true });
  const move = { id, body: { projectId: other.id } };
  await refused('moveEnvironment', 400, /is not assigned/, move);
  await ok('addTemplateToProject', { id: template.id, body: { projectId: other.id } });
  assert.equal((await ok('moveEnvironment', move)).projectId, other.id);
});

test('the tool of a template with environments cannot become one that this version does not run', async () => {
  const template = await createTemplate();
  const body = templateBody({ name: template.name, type: 'workflow' });
  await createFrom(template.id, { preventAutoDeploy: true });
  const { message } = await refused('updateTemplate', 409, { id: template.id, body });
  assert.match(
    message,
    /\/body\/type workflow cannot be run by this version.*1 environments use the template/,
  );
  const tofu = { ...body, type: 'opentofu', opentofuVersion: 'latest' };
  assert.equal((await replace(template.id, tofu)).type, 'opentofu');
});

test('a template of 1,000 environments changes in one transaction, for lists and deployments of all', async () => {
  const template = await createTemplate();
  const { id: first } = await createFrom(template.id, { preventAutoDeploy: true });
  const { pool } = app.database;
  const columns = (table: string, without: readonly string[]) =>
    pool
      .query('select column_name from information_schema.columns where table_name = $1', [table])
      .then(({ rows }) =>
        rows.map((row: { column_name: string }) => row.column_name).filter((name) => !without.includes(name)),
      );
  const environmentColumns = (await columns('environment', ['id', 'latest_deployment_id'])).join(', ');
  const deploymentColumns = (await columns('deployment', ['id', 'environment_id', 'number'])).join(', ');
  await pool.query(
    'create table copy as select gen_random_uuid() as environment, gen_random_uuid() as deployment from generate_series(1, 999)',
  );
  await pool.query(
    `insert into environment (id, ${environmentColumns})
      select environment, ${environmentColumns} from copy, environment where id = $1`,
    [first],
  );
  await pool.query(
    `insert into deployment (id, environment_id, ${deploymentColumns})
      select deployment, environment, ${deploymentColumns} from copy, deployment where environment_id = $1`,
    [first],
  );
  await pool.query(
    'update environment set latest_deployment_id = deployment from copy where id = environment',
  );
  await pool.query('drop table copy');
  const repository = 'https://git.example.com/moved-for-all.git';
  const listed = async () => {
    const query = { searchText: 'moved-for-all', limit: '100' };
    return ok('listEnvironments', { query });
  };
  assert.equal((await listed()).length, 0);
  const began = performance.now();
  await replace(template.id, templateBody({ name: template.name, repository, revision: 'v9' }));
  const took = performance.now() - began;
  const { rows } = await pool.query(
    `select count(*)::int as all, count(distinct e.xmin::text)::int as transactions,
        count(*) filter (where d.repository = $2 and d.revision = 'v9')::int as changed
      from environment e join deployment d on d.id = e.latest_deployment_id where e.template_id = $1`,
    [template.id, repository],
  );
  assert.deepEqual(rows, [{ all: 1000, transactions: 1, changed: 1000 }]);
  assert.ok(took < 5000, `${took} ms`);
  const page = await listed();
  assert.equal(page.length, 100);
  assert.ok(page.every((each) => each.latestDeploymentLog.blueprintRevision === 'v9'));
  assert.equal((await deploy(page[50]?.id ?? '')).blueprintRepository, repository);
  await forgetWork();
});

test('changes of a template and deployments of its environments do not wait for each other forever', async () => {
  const { id, blueprintId } = await createEnvironment();
  const body = { name: 'own', type: 'terraform', repository: 'https://git.example.com/a.git' };
  const deploys = Array.from({ length: 5 }, (_, each) => deploy(id, { blueprintRevision: `v${each}` }));
  const changes = Array.from({ length: 5 }, (_, each) =>
    replace(blueprintId, { ...body, revision: `w${each}` }),
  );
  await Promise.all([...deploys, ...changes]);
  await forgetWork();
});
