import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { emptyPlan, plannedOutcome } from '../../../../testing/agent.ts';
import { fieldsOf } from '../../../../testing/fields.ts';
import { startAgentTests } from '../../../../testing/start.ts';

const tests = await startAgentTests();
const { app, agent, organizationId, ok, refused, sql } = tests;
const { add, keyFor, createActive, createBody, deploymentOf, forgetWork, createTemplate, createFrom } = tests;
const planner = await keyFor('Planner', { projectId: app.projectId }, []);

beforeEach(() => forgetWork());

/** An environment with variables, and a deployment of a user who may only plan with changes of them. */
async function propose(configurationChanges: object | object[], more: object = {}) {
  const environment = await createActive({
    configurationChanges: [
      { name: 'SIZE', value: 'small' },
      { name: 'OLD', value: 'old' },
    ],
  });
  const { id } = await ok('deployEnvironment', {
    id: environment.id,
    body: { configurationChanges, ...more },
    as: planner,
  });
  const stored = async () => {
    const query = { organizationId, environmentId: environment.id };
    const rows = await ok('listVariables', { query });
    return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
  };
  return { environment, id, stored };
}

const unchanged = { SIZE: 'small', OLD: 'old' };
const changes = [
  { name: 'SIZE', value: 'large' },
  { name: 'OLD', toDelete: true },
  { name: 'TOKEN', value: 'planted-secret', isSensitive: true },
];

test('changes by a user who may only plan are used for the plan, and stored when it is approved', async () => {
  const { environment, id, stored } = await propose(changes);
  const job = await agent.claim();
  assert.deepEqual(fieldsOf(job.variables.environment, 'name', 'value'), [
    ['SIZE', 'large'],
    ['TOKEN', 'planted-secret'],
  ]);
  await agent.finish(job, plannedOutcome());
  const shown = await deploymentOf(id);
  assert.deepEqual(fieldsOf(shown.variables, 'name', 'value', 'scope', 'scopeId'), [
    ['SIZE', 'large', 'DEPLOYMENT', id],
    ['TOKEN', '********', 'DEPLOYMENT', id],
  ]);
  const query = { organizationId, deploymentLogId: id };
  assert.deepEqual(fieldsOf(await ok('listVariables', { query }), 'name', 'scope', 'schema'), [
    ['SIZE', 'DEPLOYMENT', { type: 'string' }],
    ['TOKEN', 'DEPLOYMENT', { type: 'string' }],
  ]);
  assert.deepEqual(await stored(), unchanged, 'nothing is stored yet');
  await ok('approveDeployment', { id });
  assert.deepEqual(await stored(), { SIZE: 'large', TOKEN: '********' });
  const rows = await ok('listVariables', { query: { organizationId, environmentId: environment.id } });
  assert.deepEqual(
    [...new Set(rows.map(({ userId, scope }) => `${userId} ${scope}`))],
    [`${planner.id} ENVIRONMENT`],
  );
  const audit = await sql<{ actor_id: string; details: unknown }>(
    "select actor_id, details from audit_event where action = 'variables.changed' order by number desc limit 1",
  );
  assert.deepEqual(audit[0], {
    actor_id: app.admin.id,
    details: { created: ['TOKEN'], updated: ['SIZE'], deleted: ['OLD'], proposedBy: planner.id },
  });
});

test('what was proposed waits for an approval also where the project skips plans without changes', async (t) => {
  const put = (skipApplyWhenPlanIsEmpty: boolean) =>
    ok('updatePolicy', { body: { projectId: app.projectId, skipApplyWhenPlanIsEmpty } });
  await put(true);
  t.after(() => put(false));
  const { id, stored } = await propose(changes);
  await agent.plan(emptyPlan);
  const { status, isSkippedApply } = await deploymentOf(id);
  assert.deepEqual([status, isSkippedApply], ['WAITING_FOR_USER', undefined]);
  await ok('approveDeployment', { id });
  assert.deepEqual(await stored(), { SIZE: 'large', TOKEN: '********' });
});

test('what was proposed is dropped when the plan is cancelled', async () => {
  const { id, stored } = await propose(changes);
  await agent.plan();
  await ok('cancelDeployment', { id });
  assert.deepEqual(await stored(), unchanged);
});

test('what was proposed is dropped when the plan fails, and never stored by a type that only plans', async () => {
  const failed = await propose(changes);
  await agent.finish(await agent.claim(), plannedOutcome({ result: 'failed' }));
  assert.equal((await deploymentOf(failed.id)).status, 'FAILURE');
  assert.deepEqual(await failed.stored(), unchanged);
  const dry = await propose(changes, { deploymentType: 'dryRun' });
  await agent.finish(await agent.claim(), plannedOutcome());
  assert.equal((await deploymentOf(dry.id)).status, 'SUCCESS');
  assert.deepEqual(await dry.stored(), unchanged);
});

test('a proposal that cannot be stored any more is not approved, and says why', async () => {
  const { id, stored } = await propose({ name: 'SIZE', value: 'large' });
  await agent.plan();
  const body = [{ scope: 'GLOBAL', organizationId, name: 'SIZE', type: 0, value: 'fixed', isReadonly: true }];
  const [locked] = await ok('saveVariables', { body });
  const { message } = await refused('approveDeployment', 409, { id });
  assert.match(message, /can no longer be stored: .*"SIZE" is read-only in scope GLOBAL.*Cancel it/);
  assert.equal((await deploymentOf(id)).status, 'WAITING_FOR_USER');
  await ok('cancelDeployment', { id });
  await ok('deleteVariable', { id: locked?.id ?? '' });
  assert.deepEqual(await stored(), unchanged);
});

test('a proposal is checked when it is made, like a change', async () => {
  const refusals: [object, RegExp, number?][] = [
    [{ name: 'SIZE', value: 'large', regex: '^small$' }, /must match/],
    [{ name: 'ENVARIUM_REQUIRES_APPROVAL', value: 'false' }, /RUN_APPLY/, 403],
    [{ name: 'a', type: 1, value: '{', schema: { format: 'HCL' } }, /not valid HCL/, 422],
  ];
  const { id } = await createActive();
  for (const [change, pattern, status = 400] of refusals) {
    const input = { id, body: { configurationChanges: change }, as: planner };
    await refused('deployEnvironment', status, pattern, input);
  }
});

test('changes by a user who may apply are stored when the deployment is requested', async () => {
  const { environment, stored } = await propose({ name: 'SIZE', value: 'large' });
  await ok('deployEnvironment', {
    id: environment.id,
    body: { configurationChanges: { name: 'SIZE', value: 'huge' } },
  });
  assert.equal((await stored()).SIZE, 'huge');
});

let setCount = 0;

async function createSet(...configurationProperties: object[]) {
  const name = `proposed set ${++setCount}`;
  const body = { name, scope: 'project' as const, scopeId: app.projectId, configurationProperties };
  return ok('createConfigurationSet', { body });
}

async function setsOf(scope: 'environment' | 'deployment', scopeId: string) {
  return (await ok('listSetAssignments', { params: { scope, scopeId } })).map(({ id }) => id);
}

/** An environment with one set, and a planner who wants another one instead. */
async function proposeSets(more: object = {}) {
  const first = await createSet({ name: 'COLOUR', value: 'red' }, { name: 'FIRST', value: 'yes' });
  const second = await createSet({ name: 'COLOUR', value: 'blue' }, { name: 'OLD', value: 'hidden' });
  const environment = await createActive({
    configurationChanges: { name: 'OLD', value: 'old' },
    configurationSetChanges: { assign: [first.id] },
  });
  const deployment = await ok('deployEnvironment', {
    id: environment.id,
    body: { configurationSetChanges: { assign: [second.id], unassign: [first.id] }, ...more },
    as: planner,
  });
  return { environment, id: deployment.id, first, second };
}

test('sets that a planner proposes are used for the plan, and assigned when it is approved', async () => {
  const { environment, id, first, second } = await proposeSets();
  const job = await agent.claim();
  assert.deepEqual(fieldsOf(job.variables.environment, 'name', 'value', 'scope'), [
    ['COLOUR', 'blue', 'SET'],
    ['OLD', 'old', 'ENVIRONMENT'],
  ]);
  await agent.finish(job, plannedOutcome());
  assert.deepEqual(await setsOf('deployment', id), [second.id]);
  assert.deepEqual(await setsOf('environment', environment.id), [first.id], 'nothing is stored yet');
  await ok('approveDeployment', { id });
  assert.deepEqual(await setsOf('environment', environment.id), [second.id]);
  const audit = await sql<{ action: string; actor_id: string; details: object }>(
    "select action, actor_id, details from audit_event where action like 'configurationSet.%assigned' order by number desc limit 2",
  );
  const details = { scope: 'environment', scopeId: environment.id, proposedBy: planner.id };
  assert.deepEqual(audit, [
    {
      action: 'configurationSet.assigned',
      actor_id: app.admin.id,
      details: { ...details, name: second.name },
    },
    {
      action: 'configurationSet.unassigned',
      actor_id: app.admin.id,
      details: { ...details, name: first.name },
    },
  ]);
});

test('a variable that is proposed is checked with the sets that are proposed', async () => {
  const { environment, id } = await proposeSets();
  await agent.plan();
  await ok('cancelDeployment', { id });
  const strict = await createSet({ name: 'STAGE', value: 'prod', isReadonly: true });
  const params = { id: environment.id };
  const body = {
    configurationSetChanges: { assign: [strict.id] },
    configurationChanges: { name: 'STAGE', value: 'test' },
  };
  await refused('deployEnvironment', 409, /"STAGE" is read-only/, { params, body, as: planner });
  assert.equal((await setsOf('environment', environment.id)).includes(strict.id), false);
});

test('no set is assigned when the plan is cancelled or fails, or only plans', async () => {
  const cancelled = await proposeSets();
  await agent.plan();
  await ok('cancelDeployment', { id: cancelled.id });
  const failed = await proposeSets();
  await agent.finish(await agent.claim(), plannedOutcome({ result: 'failed' }));
  const dry = await proposeSets({ deploymentType: 'dryRun' });
  await agent.finish(await agent.claim(), plannedOutcome());
  assert.equal((await deploymentOf(dry.id)).status, 'SUCCESS');
  for (const { environment, first } of [cancelled, failed, dry])
    assert.deepEqual(await setsOf('environment', environment.id), [first.id]);
});

test('a set that was deleted since is not assigned, and the approval says so', async () => {
  const { environment, id, first, second } = await proposeSets();
  await agent.plan();
  await ok('unassignConfigurationSets', {
    params: { scope: 'environment', scopeId: environment.id },
    query: { setIds: first.id },
  });
  await ok('deleteConfigurationSet', { id: second.id });
  const { message } = await refused('approveDeployment', 409, { id });
  assert.match(message, /can no longer be stored: .*assign\/0.*Cancel it and deploy again/);
  await ok('cancelDeployment', { id });
  assert.deepEqual(await setsOf('environment', environment.id), []);
});

async function createActiveFrom(templateId: string) {
  const environment = await createFrom(templateId, { requiresApproval: false });
  await agent.run();
  return environment;
}

/** Of the next deployment, which plans only: the template, and the revision. */
async function codeOfNext(id: string) {
  const body = { deploymentType: 'dryRun' as const };
  const made = await ok('deployEnvironment', { id, body });
  const job = await agent.claim();
  await agent.finish(job, plannedOutcome());
  const { blueprintId } = await deploymentOf(made.id);
  return [blueprintId, job.source.repository, job.source.revision];
}

test('a template and revision that a planner proposes are those of the plan, and kept with its approval', async () => {
  const first = await createTemplate({ revision: 'main' });
  const second = await createTemplate({ revision: 'trunk' });
  await ok('saveVariables', {
    body: [
      { scope: 'BLUEPRINT', scopeId: second.id, organizationId, name: 'FROM', type: 0, value: 'second' },
    ],
  });
  const { id } = await createActiveFrom(first.id);
  const request = { id, body: { blueprintId: second.id, blueprintRevision: 'v2' }, as: planner };
  const dropped = await ok('deployEnvironment', request);
  const job = await agent.claim();
  assert.deepEqual([job.source.revision, job.variables.environment[0]?.value], ['v2', 'second']);
  await agent.finish(job, plannedOutcome());
  await ok('cancelDeployment', { id: dropped.id });
  assert.deepEqual(await codeOfNext(id), [first.id, first.repository, 'main']);
  const kept = await ok('deployEnvironment', request);
  await agent.plan();
  await ok('approveDeployment', { id: kept.id });
  await agent.apply(await agent.claim(), ['a']);
  assert.deepEqual(await codeOfNext(id), [second.id, second.repository, 'v2']);
  const rows = await sql<{ details: { templateId: object; proposedBy: string } }>(
    "select details from audit_event where action = 'environment.sourceChanged' and entity_id = $1",
    id,
  );
  assert.deepEqual(
    rows.map(({ details }) => [details.templateId, details.proposedBy]),
    [[{ from: first.id, to: second.id }, planner.id]],
  );
});

test('a template that was deleted since is not switched to', async () => {
  const first = await createTemplate();
  const second = await createTemplate();
  const { id } = await createActiveFrom(first.id);
  const body = { blueprintId: second.id };
  const made = await ok('deployEnvironment', { id, body, as: planner });
  await agent.plan();
  await ok('deleteTemplate', { id: second.id });
  await refused('approveDeployment', 409, /can no longer be stored: .*which was deleted/, { id: made.id });
  await ok('cancelDeployment', { id: made.id });
  assert.equal((await codeOfNext(id))[0], first.id);
});

test("the environment's own template changes when a planner's repository and revision are approved", async () => {
  const role = await add('Role', 'Mover', {
    permissions: ['VIEW_PROJECT', 'VIEW_ENVIRONMENT', 'RUN_PLAN', 'EDIT_VCS_ENVIRONMENT'],
  });
  const deployer = await keyFor('Deployer', { projectId: app.projectId }, []);
  const mover = await keyFor(role.id, { projectId: app.projectId }, []);
  const { id, blueprintId } = await createActive({ revision: 'main' });
  const blueprintRepository = 'https://git.example.com/moved.git';
  const body = { blueprintRepository, blueprintRevision: 'v3' };
  const propose = () => ok('deployEnvironment', { id, body, as: mover });
  const dropped = await propose();
  const job = await agent.claim();
  assert.deepEqual([job.source.repository, job.source.revision], [blueprintRepository, 'v3']);
  await agent.finish(job, plannedOutcome());
  await ok('cancelDeployment', { id: dropped.id });
  assert.deepEqual(await codeOfNext(id), [blueprintId, createBody().repository, 'main']);
  const kept = await propose();
  await agent.plan();
  await ok('approveDeployment', { id: kept.id, as: deployer });
  await agent.apply(await agent.claim(), ['a']);
  assert.deepEqual(await codeOfNext(id), [blueprintId, blueprintRepository, 'v3']);
});
