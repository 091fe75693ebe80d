import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { TestAgent, testAgent } from '../../../testing/agent.ts';
import { startTests } from '../../../testing/start.ts';

const { app, organizationId, projectId, ok, add, sql, createEnvironment, forgetWork } = await startTests();
const query = { organizationId };
let made = 0;

async function startAgent() {
  const { agentKey } = await add('Agent', `agent ${++made}`);
  const { secret } = await ok('createAgentSecret', { params: { agentKey } });
  const agent = new TestAgent(app, secret, agentKey);
  await agent.register();
  return { agentKey, agent };
}

const seen = async (agentKey: string) => {
  const { status, health } = await ok('getAgent', { params: { agentKey } });
  return { status, ...health };
};

beforeEach(async () => {
  await forgetWork();
  await sql('delete from project_agent');
});

test('an agent that leaves a job of its project waiting is degraded until it runs something', async () => {
  const { agentKey, agent } = await startAgent();
  const [idle, unable] = [await startAgent(), await startAgent()];
  await unable.agent.register([], { tools: ['pulumi'] });
  const one = (await add('Project', 'of the agent')).id;
  await ok('assignProjectAgents', { query, body: { [one]: agentKey } });
  await createEnvironment({ projectId: one });
  await createEnvironment({ projectId: one });
  assert.deepEqual([(await seen(agentKey)).status, (await seen(agentKey)).queued], ['ACTIVE', 2]);
  app.advance(301);
  assert.equal((await seen(agentKey)).status, 'INACTIVE');
  for (const each of [agent, idle.agent, unable.agent]) await each.heartbeat([]);
  const { status, oldestQueuedAt = '', queued, running, slots, problems } = await seen(agentKey);
  assert.deepEqual([status, queued, running, slots], ['DEGRADED', 2, 0, 2]);
  assert.ok(Date.parse(oldestQueuedAt) < app.context.now().getTime() - 300_000);
  assert.match((problems ?? []).join(), /A job has waited for more than 5 minutes/);
  // Another agent could not get the job.
  assert.deepEqual([(await seen(idle.agentKey)).status, (await seen(idle.agentKey)).queued], ['ACTIVE', 0]);
  await agent.claim();
  const busy = await seen(agentKey);
  assert.deepEqual([busy.status, busy.queued, busy.running], ['ACTIVE', 1, 1]);
});

test('a job of a project without an agent concerns the agents that could run it', async () => {
  const shared = await testAgent(app);
  const [idle, unable] = [await startAgent(), await startAgent()];
  await unable.agent.register([], { tools: ['pulumi'] });
  await createEnvironment({ projectId });
  app.advance(301);
  for (const each of [shared, idle.agent, unable.agent]) await each.heartbeat([]);
  assert.equal((await seen('ENVARIUM_DEFAULT')).status, 'DEGRADED');
  assert.equal((await seen(idle.agentKey)).status, 'DEGRADED');
  assert.deepEqual(
    [(await seen(unable.agentKey)).status, (await seen(unable.agentKey)).queued],
    ['ACTIVE', 0],
  );
  // Another organization has no job that waits.
  const founder = await app.addKey();
  await ok('createOrganization', { body: { name: 'Quiet' }, as: founder });
  const { status, health } = await ok('getAgent', { params: { agentKey: 'X_DEFAULT' }, as: founder });
  assert.deepEqual([status, health?.queued], ['ACTIVE', 0]);
});

test('what heartbeats say of a machine is shown until the agent registers again', async () => {
  const { agentKey, agent } = await startAgent();
  const heartbeat = (condition: object) =>
    agent.send('heartbeat', {}, { epoch: agent.epoch, held: [], freeSlots: 1, condition });
  const time = (ahead: number) => new Date(app.context.now().getTime() + ahead * 1000).toISOString();
  const folders = [{ what: 'work', path: '/srv/work', freeMegabytes: 100, reserveMegabytes: 256 }];
  const machine = { time: time(-3600), folders, missingPrograms: ['pulumi'] };
  assert.equal((await heartbeat(machine)).statusCode, 200);
  const { problems = [] } = await seen(agentKey);
  assert.match(problems.join('\n'), /work folder \/srv\/work is nearly full: 100 MB/);
  assert.match(problems.join('\n'), /clock is 3\d{3} seconds behind/);
  assert.match(problems.join('\n'), /no pulumi and cannot download it/);
  assert.equal((await heartbeat({ ...machine, folders: [{ what: 'root' }] })).statusCode, 400);
  assert.equal((await heartbeat({ ...machine, missingPrograms: ['x'.repeat(2000)] })).statusCode, 400);
  await heartbeat({ time: time(1), folders: [], missingPrograms: [] });
  assert.deepEqual((await seen(agentKey)).problems, []);
  await heartbeat(machine);
  await agent.register();
  assert.deepEqual((await seen(agentKey)).problems, []);
});

test('an agent that was never started says so', async () => {
  const { agentKey } = await add('Agent', 'never started');
  assert.deepEqual(await seen(agentKey), {
    status: 'INACTIVE',
    queued: 0,
    running: 0,
    slots: 0,
    problems: ['It was never started: create a secret for it, and start it with that.'],
  });
});
