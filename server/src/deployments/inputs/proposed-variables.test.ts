import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { plannedOutcome, testAgent } from '../../testing/agent.ts';
import { testApp } from '../../testing/app.ts';
import { ok, refused } from '../../testing/client.ts';
import { createActive, deploymentOf, forgetWork } from '../../testing/environment.ts';

const app = await testApp();
const agent = await testAgent(app);
const { organizationId } = app;
const planner = await app.addKey({ [organizationId]: [] }, [
  { organizationId, projectId: app.projectId, role: 'Planner' },
]);

beforeEach(() => forgetWork(app));

/** An environment with variables, and a deployment of somebody who may only plan with changes of them. */
async function propose(configurationChanges: object | object[], more: object = {}) {
  const environment = await createActive(app, agent, {
    configurationChanges: [
      { name: 'SIZE', value: 'small' },
      { name: 'OLD', value: 'old' },
    ],
  });
  const { id } = await ok(app, 'deployEnvironment', {
    params: { id: environment.id },
    body: { configurationChanges, ...more },
    as: planner,
  });
  const stored = async () => {
    const query = { organizationId, environmentId: environment.id };
    const rows = await ok(app, 'listVariables', { query });
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

test('what somebody proposes who may only plan is used for the plan, and stored when it is approved', async () => {
  const { environment, id, stored } = await propose(changes);
  const job = await agent.claim();
  assert.deepEqual(
    job.variables.environment.map(({ name, value }) => [name, value]),
    [
      ['SIZE', 'large'],
      ['TOKEN', 'planted-secret'],
    ],
  );
  await agent.finish(job, plannedOutcome());
  const shown = await deploymentOf(app, id);
  assert.deepEqual(
    shown.variables?.map(({ name, value, scope, scopeId }) => [name, value, scope, scopeId]),
    [
      ['SIZE', 'large', 'DEPLOYMENT', id],
      ['TOKEN', '********', 'DEPLOYMENT', id],
    ],
  );
  const query = { organizationId, deploymentLogId: id };
  assert.deepEqual(
    (await ok(app, 'listVariables', { query })).map(({ name, scope, schema }) => [name, scope, schema]),
    [
      ['SIZE', 'DEPLOYMENT', { type: 'string' }],
      ['TOKEN', 'DEPLOYMENT', { type: 'string' }],
    ],
  );
  assert.deepEqual(await stored(), unchanged, 'nothing is stored yet');
  await ok(app, 'approveDeployment', { params: { id } });
  assert.deepEqual(await stored(), { SIZE: 'large', TOKEN: '********' });
  const rows = await ok(app, 'listVariables', { query: { organizationId, environmentId: environment.id } });
  assert.deepEqual(
    [...new Set(rows.map(({ userId, scope }) => `${userId} ${scope}`))],
    [`${planner.id} ENVIRONMENT`],
  );
  const { rows: audit } = await app.database.pool.query<{ actor_id: string; details: unknown }>(
    "select actor_id, details from audit_event where action = 'variables.changed' order by number desc limit 1",
  );
  assert.deepEqual(audit[0], {
    actor_id: app.admin.id,
    details: { created: ['TOKEN'], updated: ['SIZE'], deleted: ['OLD'], proposedBy: planner.id },
  });
});

test('what was proposed is dropped when the plan is cancelled', async () => {
  const { id, stored } = await propose(changes);
  await agent.plan();
  await ok(app, 'cancelDeployment', { params: { id } });
  assert.deepEqual(await stored(), unchanged);
});

test('what was proposed is dropped when the plan fails, and never stored by a type that only plans', async () => {
  const failed = await propose(changes);
  await agent.finish(await agent.claim(), plannedOutcome({ result: 'failed' }));
  assert.equal((await deploymentOf(app, failed.id)).status, 'FAILURE');
  assert.deepEqual(await failed.stored(), unchanged);
  const dry = await propose(changes, { deploymentType: 'dryRun' });
  await agent.finish(await agent.claim(), plannedOutcome());
  assert.equal((await deploymentOf(app, dry.id)).status, 'SUCCESS');
  assert.deepEqual(await dry.stored(), unchanged);
});

test('a proposal that cannot be stored any more is not approved, and says why', async () => {
  const { id, stored } = await propose({ name: 'SIZE', value: 'large' });
  await agent.plan();
  const body = [{ scope: 'GLOBAL', organizationId, name: 'SIZE', type: 0, value: 'fixed', isReadonly: true }];
  const [locked] = await ok(app, 'saveVariables', { body });
  const { message } = await refused(app, 'approveDeployment', 409, { params: { id } });
  assert.match(message, /can no longer be stored: .*"SIZE" is read-only in scope GLOBAL.*Cancel it/);
  assert.equal((await deploymentOf(app, id)).status, 'WAITING_FOR_USER');
  await ok(app, 'cancelDeployment', { params: { id } });
  await ok(app, 'deleteVariable', { params: { id: locked?.id ?? '' } });
  assert.deepEqual(await stored(), unchanged);
});

test('a proposal is checked when it is made, like a change', async () => {
  const refusals: [object, RegExp, number?][] = [
    [{ name: 'SIZE', value: 'large', regex: '^small$' }, /must match/],
    [{ name: 'ENVARIUM_REQUIRES_APPROVAL', value: 'false' }, /RUN_APPLY/, 403],
    [{ name: 'a', type: 1, value: '{', schema: { format: 'HCL' } }, /not valid HCL/, 422],
  ];
  const { id } = await createActive(app, agent);
  for (const [change, pattern, status = 400] of refusals) {
    const input = { params: { id }, body: { configurationChanges: change }, as: planner };
    assert.match((await refused(app, 'deployEnvironment', status, input)).message, pattern);
  }
});

test('changes of somebody who may apply are stored when the deployment is requested', async () => {
  const { environment, stored } = await propose({ name: 'SIZE', value: 'large' });
  await ok(app, 'deployEnvironment', {
    params: { id: environment.id },
    body: { configurationChanges: { name: 'SIZE', value: 'huge' } },
  });
  assert.equal((await stored()).SIZE, 'huge');
});
