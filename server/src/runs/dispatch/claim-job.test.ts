import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { plannedOutcome, testAgent, testIsolation } from '../../../testing/agent.ts';
import { testApp } from '../../../testing/app.ts';
import { createEnvironment, deploymentOf } from '../../../testing/environment.ts';
import { startAgentTests } from '../../../testing/start.ts';

const { app, agent, ok, sql } = await startAgentTests();

/** Another process under the same key. */
async function anotherAgent(more: object = {}): Promise<typeof agent> {
  const other = agent.sibling();
  await other.register([], more);
  return other;
}

beforeEach(async () => {
  for (let job = await agent.claimAny(); job; job = await agent.claimAny())
    await agent.finish(job, plannedOutcome());
});

test('agents that claim simultaneously get each job exactly once', async () => {
  const agents = [agent, await anotherAgent(), await anotherAgent()];
  const created = await Promise.all(Array.from({ length: 5 }, () => createEnvironment(app)));
  const jobs = (
    await Promise.all(Array.from({ length: 9 }, (_, index) => (agents[index % 3] ?? agent).claimAny()))
  ).filter((job) => job !== null);
  assert.deepEqual(
    new Set(jobs.map((job) => job?.deploymentId)),
    new Set(created.map(({ latestDeploymentLogId }) => latestDeploymentLogId)),
  );
  assert.equal(jobs.length, 5);
  assert.equal(new Set(jobs.map((job) => job?.fence)).size, 5);
});

test('a new job wakes a waiting claim', async () => {
  const waiting = agent.claimAny(20);
  const environment = await createEnvironment(app);
  assert.equal((await waiting)?.environmentId, environment.id);
});

test('a job goes only to an agent that has its tool, and an apply only to one that has its folder', async () => {
  const [unfit, elsewhere] = [
    await anotherAgent({ tools: ['opentofu'] }),
    await anotherAgent({ workFolder: '/elsewhere' }),
  ];
  const environment = await createEnvironment(app);
  const id = environment.latestDeploymentLogId ?? '';
  assert.equal(await unfit.claimAny(), null);
  await elsewhere.finish(await elsewhere.claim(), plannedOutcome({ workFolder: '/elsewhere' }));
  await ok('approveDeployment', { id });
  assert.equal(await agent.claimAny(), null);
  await elsewhere.goodbye();
  assert.equal(
    (await deploymentOf(app, id)).waitingFor?.text,
    'No connected agent can run terraform in /elsewhere: install it on one of them',
  );
  await elsewhere.register([], { workFolder: '/elsewhere' });
  assert.equal((await elsewhere.claimAny())?.phase, 'apply');
});

test('an unclaimed job says why it waits', async () => {
  const alone = await testApp();
  const environment = await createEnvironment(alone);
  const id = environment.latestDeploymentLogId ?? '';
  const wait = async () => (await deploymentOf(alone, id)).waitingFor;
  assert.match((await wait())?.text ?? '', /^No agent is connected/);
  const first = await testAgent(alone);
  assert.deepEqual([(await wait())?.kind, (await wait())?.text], ['agent', 'Waiting for a free agent']);
  const job = await first.claim();
  assert.equal(await wait(), undefined);
  const silence = async () =>
    (await wait())?.text.replace(/^The agent on host has not been heard from since \S+; /, '');
  alone.advance(30);
  assert.equal(await silence(), 'another agent gets the run');
  await first.mark(job);
  assert.match((await silence()) ?? '', /^the run is given up at \S+Z$/);
  // Nothing was checked in the meantime, as if the service had been away.
  alone.advance(24 * 3600);
  assert.equal(await silence(), 'the run is given up soon');
});

test('an older process of the same spool learns that it was replaced', async () => {
  const first = await anotherAgent();
  await createEnvironment(app);
  const job = await first.claim();
  const { epoch, agentId } = first;
  await first.register([job]);
  assert.deepEqual([first.agentId, first.epoch], [agentId, epoch + 1]);
  first.epoch = epoch;
  for (const [name, message] of [
    ['claim', { epoch, waitSeconds: 0 }],
    ['heartbeat', { epoch, held: [], freeSlots: 1 }],
    ['report', { fence: job.fence, eventsFrom: 0, events: [], logs: [] }],
    ['finish', { fence: job.fence, outcome: plannedOutcome() }],
  ] as const) {
    const response = await first.send(name, job, message);
    assert.deepEqual(
      [response.statusCode, response.json<{ code: string }>().code],
      [409, 'epoch_replaced'],
      name,
    );
  }
  first.epoch = epoch + 1;
  await first.finish(job, plannedOutcome());
});

test('an agent with another protocol version learns which side to update', async () => {
  const response = await agent.sibling().send(
    'register',
    {},
    {
      protocol: { major: 99, minor: 0 },
      agentVersion: '9',
      spoolId: 's',
      bootId: 'b',
      hostname: 'h',
      processId: 1,
      tools: [],
      workFolder: '/',
      slots: 1,
      isolation: testIsolation,
      held: [],
    },
  );
  assert.deepEqual([response.statusCode, response.json<{ code: string }>().code], [409, 'protocol_version']);
  assert.match(response.body, /update the older one/);
});

test('messages that do not match the protocol are refused, and never cause an internal error', async () => {
  await createEnvironment(app);
  const job = await agent.claim();
  for (const message of [
    {},
    { fence: 'x' },
    { fence: job.fence },
    { fence: job.fence, mark: 'short' },
    { fence: 1e300, mark: 'x'.repeat(20) },
  ]) {
    assert.ok(
      [400, 409].includes((await agent.send('mark', job, message)).statusCode),
      JSON.stringify(message),
    );
  }
  for (const place of [
    { jobId: 'x', attempt: 1 },
    { ...job, attempt: 99 },
    { ...job, attempt: 1e6 },
    { ...job, jobId: '00000000-0000-0000-0000-000000000000' },
  ]) {
    const response = await agent.send('mark', place, { fence: job.fence, mark: 'x'.repeat(16) });
    assert.deepEqual([response.statusCode, response.json<{ code: string }>().code], [409, 'fence_outdated']);
  }
  assert.equal(
    (await agent.send('putBlob', { ...job, blob: 'other', query: { fence: String(job.fence) } }, 'x'))
      .statusCode,
    400,
  );
  assert.equal((await agent.send('getState', { ...job })).statusCode, 400);
  assert.equal(
    (await agent.send('getBlob', { ...job, blob: 'tree', query: { fence: String(job.fence) } })).statusCode,
    404,
  );
  assert.equal(
    (await agent.send('putState', { ...job, query: { fence: String(job.fence) } }, 'x')).statusCode,
    400,
  );
  await agent.finish(job, plannedOutcome());
});

test('a job that cannot be assembled fails its deployment and does not delay others', async () => {
  for (const change of [
    `sealed_inputs = 'no seal'`,
    // Fails with an error that has a code, as those of the database have.
    `run_settings = '{"workingDirectory": 7}'`,
  ]) {
    const broken = await createEnvironment(app);
    const behind = await createEnvironment(app);
    const id = broken.latestDeploymentLogId ?? '';
    await sql(`update deployment set ${change} where id = $1`, id);
    const job = (await agent.claimAny()) ?? (await agent.claimAny());
    assert.equal(job?.environmentId, behind.id, change);
    const { status, error } = await deploymentOf(app, id);
    assert.deepEqual([status, /cannot be read: /.test(error?.message ?? '')], ['INTERNAL_FAILURE', true]);
  }
});
