/** Each level of the priority of approvals, seen on runs: whether the plan waits, and what decided that. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { plannedOutcome } from '../../../../testing/agent.ts';
import { startAgentTests } from '../../../../testing/start.ts';
import { fireTimers } from '../../schedules/fire-timers.ts';

const tests = await startAgentTests();
const { app, agent, ok, refused, createActive, deploy, deploymentOf, environmentOf, forgetWork } = tests;
beforeEach(() => forgetWork());

/** Plans what is queued. @returns what decided that it waits; null where the apply follows */
async function waits(id: string): Promise<string | null> {
  const next = await agent.finish(await agent.claim(), plannedOutcome());
  const { status, waitingFor } = await deploymentOf(id);
  assert.equal(next === null, status === 'WAITING_FOR_USER', status);
  if (next === null) {
    await ok('cancelDeployment', { id });
    return waitingFor?.approval?.decidedBy ?? assert.fail('nothing decided');
  }
  await agent.apply(next);
  return null;
}

const setting = async (id: string) => (await environmentOf(id)).requiresApproval;
const change = (id: string, requiresApproval: boolean) =>
  ok('updateEnvironment', { id, body: { requiresApproval } });
const variable = (value: string | null) => ({
  configurationChanges: [
    { name: 'ENVARIUM_REQUIRES_APPROVAL', ...(value === null ? { toDelete: true } : { value }) },
  ],
});
const deployed = async (id: string, body: object = {}) => waits((await deploy(id, body)).id);
const destroyed = async (id: string) => waits((await ok('destroyEnvironment', { id })).id);

test('the setting decides alone; a request decides for its run and becomes the setting', async () => {
  const { id } = await createActive();
  assert.equal(await deployed(id), null);
  assert.equal(await deployed(id, { userRequiresApproval: true }), 'request');
  assert.equal(await setting(id), true);
  assert.equal(await deployed(id), 'environment');
  assert.equal(await deployed(id, { userRequiresApproval: false }), null);
  assert.equal(await setting(id), false);
});

test('the variable decides before the request, which is stored all the same', async () => {
  const { id } = await createActive();
  assert.equal(await deployed(id, { ...variable('true'), userRequiresApproval: false }), 'variable');
  assert.equal(await setting(id), false);
  assert.equal(await deployed(id, { ...variable('false'), userRequiresApproval: true }), null);
  assert.equal(await setting(id), true);
  assert.equal(await deployed(id, variable('maybe')), 'environment', 'another value says nothing');
  assert.equal(await deployed(id, variable(null)), 'environment');
});

test('a destroy waits under the same rule, without a request', async () => {
  const { id } = await createActive();
  await change(id, true);
  assert.equal(await destroyed(id), 'environment');
  await deployed(id, { ...variable('true'), userRequiresApproval: false });
  assert.equal(await destroyed(id), 'variable');
  await deployed(id, { ...variable('false'), userRequiresApproval: true });
  assert.equal(await destroyed(id), null);
  assert.equal((await environmentOf(id)).status, 'INACTIVE');
});

test('a schedule has no request: the setting of the environment decides', async () => {
  const { id } = await createActive();
  await ok('updateEnvironmentSchedule', { id, body: { deploy: { cron: '*/5 * * * *', enabled: true } } });
  for (const expected of [null, 'environment']) {
    await change(id, expected !== null);
    const { deploy: next } = await ok('getEnvironmentSchedule', { id });
    const seconds = (Date.parse(next?.nextSchedule ?? '') - app.context.now().getTime()) / 1000;
    app.advance(Math.ceil(seconds) + 1);
    await fireTimers(app.context);
    const { latestDeploymentLogId, requiresApproval } = await environmentOf(id);
    assert.equal(await waits(latestDeploymentLogId ?? ''), expected);
    assert.equal(requiresApproval, expected !== null, 'and stays');
  }
});

test('the setting of a plan that waits already does not change with the environment', async () => {
  const { id } = await createActive();
  const { id: first } = await deploy(id, { userRequiresApproval: true });
  await change(id, false);
  assert.equal(await waits(first), 'request');
});

test('a planner cannot switch approvals off in any way, and nothing of the attempt is stored', async () => {
  const { id } = await createActive();
  await change(id, true);
  const assigned = [{ organizationId: app.organizationId, environmentId: id, role: 'Planner' }];
  const as = await app.addKey({ [app.organizationId]: 'User' }, assigned);
  for (const body of [
    { userRequiresApproval: false },
    { deployRequest: { userRequiresApproval: false } },
    variable('false'),
  ])
    await refused('deployEnvironment', 403, /RUN_APPLY/, { id, body, as });
  assert.equal(await setting(id), true);
  const { id: planned } = await ok('deployEnvironment', { id, as });
  assert.equal(await waits(planned), 'planner');
  await change(id, false);
  const { id: again } = await ok('deployEnvironment', { id, as });
  assert.equal(await waits(again), 'planner');
});
