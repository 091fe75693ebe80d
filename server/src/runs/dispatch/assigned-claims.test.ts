/** Claims of agents that are assigned to projects. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { appliedOutcome, plannedOutcome, TestAgent, testAgent } from '../../../testing/agent.ts';
import { startTests } from '../../../testing/start.ts';

const { app, organizationId, projectId, ok, add, sql, createIdle, createEnvironment, deploy, ...tests } =
  await startTests();
const query = { organizationId };
let made = 0;

async function startAgent() {
  const { agentKey, name = '' } = await add('Agent', `agent ${++made}`);
  const { secret } = await ok('createAgentSecret', { params: { agentKey } });
  const agent = new TestAgent(app, secret, agentKey);
  return { agentKey, name, agent };
}

async function registered() {
  const started = await startAgent();
  await started.agent.register();
  return started;
}

const assign = (body: object) => ok('assignProjectAgents', { query, body });
const waitsFor = async (id: string | null) => (await tests.deploymentOf(id ?? '')).waitingFor?.text ?? '';

beforeEach(async () => {
  await tests.forgetWork();
  await sql('delete from project_agent');
  await sql('delete from default_agent');
});

test('jobs of a project are handed to its agent only, and that agent gets no others', async () => {
  const shared = await testAgent(app);
  const [own, other] = [await registered(), await registered()];
  const one = (await add('Project', 'assigned')).id;
  await assign({ [one]: own.agentKey });
  const environment = await createEnvironment({ projectId: one });
  for (const agent of [shared, other.agent]) assert.equal(await agent.claimAny(), null);
  assert.equal((await own.agent.claim()).environmentId, environment.id);
  const elsewhere = await createEnvironment({ projectId });
  assert.equal(await own.agent.claimAny(), null);
  assert.equal((await other.agent.claim()).environmentId, elsewhere.id);
});

test('a sub-project has the agent of the project above, or explicitly the default agent', async () => {
  const shared = await testAgent(app);
  const own = await registered();
  const top = (await add('Project', 'top')).id;
  const [low, open] = [
    (await add('Project', 'low', { parentProjectId: top })).id,
    (await add('Project', 'open', { parentProjectId: top })).id,
  ];
  await assign({ [top]: own.agentKey, [open]: 'BRAND_DEFAULT' });
  const below = await createEnvironment({ projectId: low });
  const free = await createEnvironment({ projectId: open });
  assert.equal((await shared.claim()).environmentId, free.id);
  assert.equal(await shared.claimAny(), null);
  assert.equal((await own.agent.claim()).environmentId, below.id);
});

test('the chosen default agent alone gets the jobs of projects without an agent', async () => {
  const shared = await testAgent(app);
  const [chosen, other] = [await registered(), await registered()];
  const one = (await add('Project', 'of the default')).id;
  // It has a project of its own, too.
  await assign({ [one]: chosen.agentKey });
  await ok('setDefaultAgent', { query, body: { agent: chosen.agentKey } });
  await createEnvironment({ projectId });
  for (const agent of [shared, other.agent]) assert.equal(await agent.claimAny(), null);
  assert.ok(await chosen.agent.claimAny());
  await ok('setDefaultAgent', { query, body: { agent: 'X_DEFAULT' } });
  await createEnvironment({ projectId });
  for (const { agent } of [chosen, other]) assert.equal(await agent.claimAny(), null);
  assert.ok(await shared.claimAny());
});

test('a claim that waits gets a job as soon as it is assigned', async () => {
  const [first, second] = [await registered(), await registered()];
  const one = (await add('Project', 'moved')).id;
  await assign({ [one]: first.agentKey });
  const environment = await createEnvironment({ projectId: one });
  const waiting = second.agent.claimAny(4);
  await assign({ [one]: second.agentKey });
  assert.equal((await waiting)?.environmentId, environment.id);
  assert.equal(await first.agent.claimAny(), null);
});

test('an agent ends what it has begun; the next job, also an apply, is handed to the new one', async () => {
  const [first, second] = [await registered(), await registered()];
  const one = (await add('Project', 'handed over')).id;
  await assign({ [one]: first.agentKey });
  const environment = await createIdle({ projectId: one, requiresApproval: true });
  const { id } = await deploy(environment.id);
  const plan = await first.agent.claim();
  await assign({ [one]: second.agentKey });
  await first.agent.report(plan, {});
  assert.equal(await first.agent.finish(plan, plannedOutcome()), null);
  await ok('approveDeployment', { id });
  assert.equal(await first.agent.claimAny(), null);
  const apply = await second.agent.claim();
  assert.equal(apply.jobId === plan.jobId, false);
  const report = { fence: apply.fence, eventsFrom: 0, events: [], logs: [] };
  const foreign = await first.agent.send('report', apply, report);
  assert.equal(foreign.statusCode, 409);
  assert.match(foreign.body, /belongs to another process of an agent/);
  await second.agent.mark(apply);
  await second.agent.finish(apply, appliedOutcome());
});

test('a deployment says for which agent it waits, and what is wrong with that', async () => {
  await testAgent(app);
  const own = await startAgent();
  const one = (await add('Project', 'waiting')).id;
  await assign({ [one]: own.agentKey });
  const { latestDeploymentLogId: id, ...environment } = await createEnvironment({ projectId: one });
  const waits = () => waitsFor(id ?? null);
  const named = `Waiting for the agent "${own.name}", which runs the deployments of the project`;
  assert.equal(await waits(), `${named}: it was never started`);
  assert.equal((await ok('getDeployment', { id: id ?? '' })).environmentId, environment.id);
  await own.agent.register([], { tools: ['pulumi'] });
  assert.match(await waits(), /: it cannot run terraform\. Install it there, or assign another agent/);
  await own.agent.register();
  assert.equal(await waits(), `${named}, to become free`);
  await own.agent.goodbye();
  assert.match(await waits(), /: it has not been heard from since .*Z\. Start it, or check its log$/);
});
