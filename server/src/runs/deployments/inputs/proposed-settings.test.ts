import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { plannedOutcome } from '../../../../testing/agent.ts';
import { startAgentTests } from '../../../../testing/start.ts';

const { app, agent, ok, refused, keyFor, createActive, forgetWork } = await startAgentTests();
const planner = await keyFor('Planner', { projectId: app.projectId }, []);

beforeEach(() => forgetWork());

/** A deployment of a user who may only plan, with settings of its environment. */
async function propose(body: object) {
  const environment = await createActive();
  const { id } = await ok('deployEnvironment', { id: environment.id, body, as: planner });
  return { environment, id };
}

async function settingsOf(id: string) {
  const { name, lifespanEndAt, requiresApproval } = await ok('getEnvironment', { id });
  return { name, end: lifespanEndAt, requiresApproval };
}

const ttl = { type: 'DATE' as const, value: '2099-01-01T00:00:00.000Z' };
const settings = { envName: 'renamed by a planner', ttl, userRequiresApproval: true };

test("a planner's new name and lifetime are for the plan, and the environment's once it is approved", async () => {
  const { environment, id } = await propose(settings);
  const before = await settingsOf(environment.id);
  assert.notEqual(before.name, settings.envName);
  const job = await agent.claim();
  assert.equal(job.systemVariables['ENVARIUM_ENVIRONMENT_NAME'], settings.envName);
  await agent.finish(job, plannedOutcome());
  assert.deepEqual(await settingsOf(environment.id), before, 'nothing is stored yet');
  await ok('approveDeployment', { id });
  const after = { name: settings.envName, end: ttl.value, requiresApproval: true };
  assert.deepEqual(await settingsOf(environment.id), after);
});

test("a planner's name and lifetime are dropped with the plan, and those of a user who may apply are not", async () => {
  const { environment, id } = await propose(settings);
  const before = await settingsOf(environment.id);
  await agent.plan();
  await ok('cancelDeployment', { id });
  const failed = { id: environment.id, body: settings, as: planner };
  await ok('deployEnvironment', failed);
  await agent.finish(await agent.claim(), plannedOutcome({ result: 'failed' }));
  assert.deepEqual(await settingsOf(environment.id), before);
  await ok('deployEnvironment', { id: environment.id, body: settings });
  assert.deepEqual((await settingsOf(environment.id)).name, settings.envName);
});

test('a lifetime that is over before the plan is approved is not stored, and the approval says so', async () => {
  const value = new Date(Date.now() + 60_000).toISOString();
  const { id } = await propose({ ttl: { type: 'DATE', value } });
  await agent.plan();
  app.advance(120);
  const { message } = await refused('approveDeployment', 409, { id });
  assert.match(message, /can no longer be stored: .*ttl.*Cancel it and deploy again/);
  await ok('cancelDeployment', { id });
});
