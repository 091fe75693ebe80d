/** Each level of the priority of approvals, seen on runs: whether the plan waits, and what decided that. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { plannedOutcome, testAgent } from '../../../../testing/agent.ts';
import { testApp } from '../../../../testing/app.ts';
import { ok, refused } from '../../../../testing/client.ts';
import {
  createActive,
  deploy,
  deploymentOf,
  environmentOf,
  forgetWork,
} from '../../../../testing/environment.ts';
import { fireTimers } from '../../schedules/fire-timers.ts';

const app = await testApp();
const agent = await testAgent(app);
beforeEach(() => forgetWork(app));

/** Plans what is queued. @returns what decided that it waits; null where the apply follows */
async function waits(id: string): Promise<string | null> {
  const next = await agent.finish(await agent.claim(), plannedOutcome());
  const { status, waitingFor } = await deploymentOf(app, id);
  assert.equal(next === null, status === 'WAITING_FOR_USER', status);
  if (next === null) {
    await ok(app, 'cancelDeployment', { params: { id } });
    return waitingFor?.approval?.decidedBy ?? assert.fail('nothing decided');
  }
  await agent.apply(next);
  return null;
}

const setting = async (id: string) => (await environmentOf(app, id)).requiresApproval;
const change = (id: string, requiresApproval: boolean) =>
  ok(app, 'updateEnvironment', { params: { id }, body: { requiresApproval } });
const variable = (value: string | null) => ({
  configurationChanges: [
    { name: 'ENVARIUM_REQUIRES_APPROVAL', ...(value === null ? { toDelete: true } : { value }) },
  ],
});
const deployed = async (id: string, body: object = {}) => waits((await deploy(app, id, body)).id);
const destroyed = async (id: string) => waits((await ok(app, 'destroyEnvironment', { params: { id } })).id);

test('the setting decides alone; a request decides for its run and becomes the setting', async () => {
  const { id } = await createActive(app, agent);
  assert.equal(await deployed(id), null);
  assert.equal(await deployed(id, { userRequiresApproval: true }), 'request');
  assert.equal(await setting(id), true);
  assert.equal(await deployed(id), 'environment');
  assert.equal(await deployed(id, { userRequiresApproval: false }), null);
  assert.equal(await setting(id), false);
});

test('the variable decides before the request, which is stored all the same', async () => {
  const { id } = await createActive(app, agent);
  assert.equal(await deployed(id, { ...variable('true'), userRequiresApproval: false }), 'variable');
  assert.equal(await setting(id), false);
  assert.equal(await deployed(id, { ...variable('false'), userRequiresApproval: true }), null);
  assert.equal(await setting(id), true);
  assert.equal(await deployed(id, variable('maybe')), 'environment', 'another value says nothing');
  assert.equal(await deployed(id, variable(null)), 'environment');
});

test('a destroy waits under the same rule, without a request', async () => {
  const { id } = await createActive(app, agent);
  await change(id, true);
  assert.equal(await destroyed(id), 'environment');
  await deployed(id, { ...variable('true'), userRequiresApproval: false });
  assert.equal(await destroyed(id), 'variable');
  await deployed(id, { ...variable('false'), userRequiresApproval: true });
  assert.equal(await destroyed(id), null);
  assert.equal((await environmentOf(app, id)).status, 'INACTIVE');
});

test('a schedule has no request: the setting of the environment decides', async () => {
  const { id } = await createActive(app, agent);
  await ok(app, 'updateEnvironmentSchedule', {
    params: { id },
    body: { deploy: { cron: '*/5 * * * *', enabled: true } },
  });
  for (const expected of [null, 'environment']) {
    await change(id, expected !== null);
    const { deploy: next } = await ok(app, 'getEnvironmentSchedule', { params: { id } });
    const seconds = (Date.parse(next?.nextSchedule ?? '') - app.context.now().getTime()) / 1000;
    app.advance(Math.ceil(seconds) + 1);
    await fireTimers(app.context);
    const { latestDeploymentLogId, requiresApproval } = await environmentOf(app, id);
    assert.equal(await waits(latestDeploymentLogId ?? ''), expected);
    assert.equal(requiresApproval, expected !== null, 'and stays');
  }
});

test('the setting of a plan that waits already does not change with the environment', async () => {
  const { id } = await createActive(app, agent);
  const { id: first } = await deploy(app, id, { userRequiresApproval: true });
  await change(id, false);
  assert.equal(await waits(first), 'request');
});

test('a planner cannot switch approvals off in any way, and nothing of the attempt is stored', async () => {
  const { id } = await createActive(app, agent);
  await change(id, true);
  const assigned = [{ organizationId: app.organizationId, environmentId: id, role: 'Planner' }];
  const as = await app.addKey({ [app.organizationId]: 'User' }, assigned);
  for (const body of [
    { userRequiresApproval: false },
    { deployRequest: { userRequiresApproval: false } },
    variable('false'),
  ])
    assert.match(
      (await refused(app, 'deployEnvironment', 403, { params: { id }, body, as })).message,
      /RUN_APPLY/,
    );
  assert.equal(await setting(id), true);
  const { id: planned } = await ok(app, 'deployEnvironment', { params: { id }, as });
  assert.equal(await waits(planned), 'planner');
  await change(id, false);
  const { id: again } = await ok(app, 'deployEnvironment', { params: { id }, as });
  assert.equal(await waits(again), 'planner');
});
