import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAgent, plannedOutcome, sha256, stateFile, TestAgent, testAgent } from '../../../testing/agent.ts';
import { createActive } from '../../../testing/environment.ts';
import { startTests } from '../../../testing/start.ts';

const { app, ok, sql, createEnvironment, environmentOf } = await startTests();
const shared = await testAgent(app);
const founder = await app.addKey();
const { id: otherId } = await ok('createOrganization', { body: { name: 'Other' }, as: founder });

/** A registered agent that belongs to the other organization alone. */
async function otherAgent(): Promise<TestAgent> {
  const key = 'OF_OTHER';
  await addAgent(app, key, otherId);
  const { secret } = await ok('createAgentSecret', { params: { agentKey: key }, as: founder });
  const agent = new TestAgent(app, secret, key);
  await agent.register();
  return agent;
}

const foreign = await otherAgent();

async function createOfOther() {
  const [project] = await ok('listProjects', { query: { organizationId: otherId }, as: founder });
  return ok('createEnvironmentWithoutTemplate', {
    body: {
      name: 'network',
      organizationId: otherId,
      projectId: project?.id ?? '',
      repository: 'https://git.example.com/other.git',
      type: 'terraform',
    },
    as: founder,
  });
}

test('an agent of one organization claims only the jobs of that organization', async () => {
  await createEnvironment();
  assert.equal(await foreign.claimAny(), null, 'the job of the first organization is left in the queue');
  const { id } = await createOfOther();
  assert.equal((await foreign.claim()).environmentId, id);
  assert.equal(await foreign.claimAny(), null);
  assert.equal((await shared.claim()).organizationId, app.organizationId);
});

test('a shared agent claims the jobs of all organizations', async () => {
  const { id } = await createOfOther();
  assert.equal((await shared.claim()).environmentId, id);
});

test('no call of the protocol reaches an attempt of another organization', async () => {
  const environment = await createActive(app, shared);
  await ok('deployEnvironment', { id: environment.id, body: {} });
  const job = await shared.claim();
  await shared.putBlob(job, 'plan', 'the plan file');
  // Even where both agents had the same key at the time of the claim.
  await sql(`update agent_process set agent_key = 'OF_OTHER' where id = $1`, shared.agentId);
  const fence = String(job.fence);
  const state = stateFile(9, []);
  const follows = job.state.current?.stateVersionId ?? '';
  const byFence = { ...job, query: { fence } };
  const calls = {
    report: () => foreign.send('report', job, { fence: job.fence, eventsFrom: 0, events: [], logs: [] }),
    mark: () => foreign.send('mark', job, { fence: job.fence, mark: 'm'.repeat(32) }),
    finish: () => foreign.send('finish', job, { fence: job.fence, outcome: plannedOutcome() }),
    getState: () => foreign.send('getState', byFence),
    getBlob: () => foreign.send('getBlob', { ...byFence, blob: 'plan' }),
    putBlob: () => foreign.send('putBlob', { ...byFence, blob: 'plan' }, 'another plan'),
    putState: () =>
      foreign.send(
        'putState',
        { ...job, query: { fence, sha256: sha256(state), follows, moment: 'final' } },
        state,
      ),
  };
  for (const [name, call] of Object.entries(calls)) {
    const { statusCode, body } = await call();
    assert.equal(statusCode, 409, name);
    assert.match(body, /"fence_outdated","message":"Attempt not found"/, name);
  }
  const versions = await ok('listStateVersions', { id: environment.id });
  assert.equal(versions.length, 1);
  assert.equal((await environmentOf(environment.id)).status, 'DEPLOY_IN_PROGRESS');
});

test('a deployment waits for an agent of its organization where only those of others are connected', async () => {
  const { id } = await createEnvironment();
  app.advance(120);
  await foreign.heartbeat([]);
  const { latestDeploymentLogId } = await environmentOf(id);
  const { waitingFor } = await ok('getDeployment', { id: latestDeploymentLogId ?? '' });
  assert.match(waitingFor?.text ?? '', /^No agent is connected/);
});
