import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { Right } from '#contract/schema/enumerations.ts';
import { plannedOutcome } from '../../../testing/agent.ts';
import { startAgentTests } from '../../../testing/start.ts';

const tests = await startAgentTests();
const { app, agent, ok, refused, sql, keyFor, createActive, createBody, createIdle, deploy } = tests;
const { deploymentOf, environmentOf, forgetWork } = tests;
beforeEach(() => forgetWork());

test('credentials from an address are sent only to its host', async () => {
  const created = await createIdle({ repository: 'https://ada:planted-token@git.example.com/a.git' });
  const credentials = async (body: object) => {
    await deploy(created.id, body);
    const job = await agent.claim();
    await agent.finish(job, plannedOutcome({ result: 'failed' }));
    return [job.source.credentials, job.secrets.includes('planted-token')];
  };
  const own = [{ username: 'ada', password: 'planted-token' }, true];
  assert.deepEqual(await credentials({}), own);
  assert.deepEqual(await credentials({ blueprintRepository: '' }), own);
  assert.deepEqual(await credentials({ blueprintRepository: 'https://git.example.com/b.git' }), own);
  assert.deepEqual(await credentials({ blueprintRepository: 'https://git.example.com:8443/b.git' }), [
    undefined,
    false,
  ]);
  assert.deepEqual(await credentials({ blueprintRepository: 'https://elsewhere.example.com/b.git' }), [
    undefined,
    false,
  ]);
  assert.equal(
    (await deploymentOf((await environmentOf(created.id)).latestDeploymentLogId ?? '')).blueprintRepository,
    'https://elsewhere.example.com/b.git',
  );
});

test('what a planner starts waits for approval, even where the environment asks for none', async () => {
  const { id } = await createActive();
  const assigned = [{ organizationId: app.organizationId, environmentId: id, role: 'Planner' }];
  const as = await app.addKey({ [app.organizationId]: 'User' }, assigned);
  const { id: deployment } = await ok('deployEnvironment', { id, body: {}, as });
  assert.equal(await agent.plan(), null);
  assert.equal((await deploymentOf(deployment)).status, 'WAITING_FOR_USER');
  await refused('approveDeployment', 403, /RUN_APPLY/, { id: deployment, as });
  await ok('approveDeployment', { id: deployment });
});

test('users who may plan but not apply cannot switch off approvals', async () => {
  const as = await app.addKey({
    [app.organizationId]: [
      'VIEW_ENVIRONMENT',
      'RUN_PLAN',
      'CREATE_VCS_ENVIRONMENT',
      'EDIT_ENVIRONMENT_SETTINGS',
    ],
  });
  const { id } = await createIdle();
  const params = { id };
  const variable = { name: 'ENVARIUM_REQUIRES_APPROVAL', value: 'false' };
  for (const body of [{ userRequiresApproval: false }, { configurationChanges: variable }]) {
    await refused('deployEnvironment', 403, /RUN_APPLY/, { params, body, as });
  }
  const moved = { blueprintRepository: 'https://elsewhere.example.com/b.git' };
  await refused('deployEnvironment', 403, /EDIT_VCS_ENVIRONMENT/, { params, body: moved, as });
  await refused('updateEnvironment', 403, { params, body: { requiresApproval: false }, as });
  for (const more of [
    { requiresApproval: false },
    { deployRequest: { userRequiresApproval: false } },
    { configurationChanges: variable },
  ]) {
    await refused('createEnvironmentWithoutTemplate', 403, { body: createBody(more), as });
  }
  const held = await createIdle({
    configurationChanges: { name: 'ENVARIUM_REQUIRES_APPROVAL', value: 'true' },
  });
  const rows = await sql<{ id: string }>('select id from variable where scope_id = $1', held.id);
  for (const change of [{ value: 'false' }, { toDelete: true }, { name: 'renamed' }]) {
    const body = { configurationChanges: { id: rows[0]?.id, ...change } };
    await refused('deployEnvironment', 403, /RUN_APPLY/, { id: held.id, body, as });
  }
  const { id: started } = await ok('deployEnvironment', { params, body: { userRequiresApproval: true }, as });
  await agent.plan();
  await refused('approveDeployment', 403, { id: started, as });
  assert.equal((await deploymentOf(started)).status, 'WAITING_FOR_USER');
});

test('a task needs the right to run tasks, and no other; everything else needs the right to plan', async () => {
  const { id } = await createActive();
  const keyWith = (rights: readonly Right[]) => keyFor(rights, { projectId: app.projectId }, []);
  const [tasker, planner] = [await keyWith(['RUN_TASK']), await keyWith(['RUN_PLAN'])];
  const params = { id };
  const task = { deploymentType: 'task', taskPayload: 'true' };
  const started = await ok('deployEnvironment', { params, body: task, as: tasker });
  assert.equal(started.type, 'task');
  await ok('deployEnvironment', { params, body: { deployRequest: task }, as: tasker });
  const refusalOf = async (body: object, as: typeof tasker) =>
    (await refused('deployEnvironment', 403, { params, body, as })).message;
  assert.equal(await refusalOf(task, planner), '/body/deploymentType task needs the right RUN_TASK');
  for (const body of [{}, { deploymentType: 'prPlan' }, { deploymentType: 'driftDetection' }])
    assert.equal(await refusalOf(body, tasker), 'This needs the right RUN_PLAN');
  await ok('deployEnvironment', { params, body: {}, as: planner });
});
