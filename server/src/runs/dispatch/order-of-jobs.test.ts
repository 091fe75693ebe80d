/** The order in which agents get jobs of different kinds, and how many slots those take that no one waits for. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { plannedOutcome } from '../../../testing/agent.ts';
import { startAgentTests } from '../../../testing/start.ts';

const { app, agent, ok, createActive, createIdle, deploy, deploymentOf, forgetWork } =
  await startAgentTests();

beforeEach(async () => {
  app.advance(1);
  await agent.register([], { slots: 10 });
  await forgetWork();
});

/** An environment with a queued run. @returns the id of the run */
async function queued(deploymentType: string): Promise<string> {
  const { id } = await createActive();
  return (await deploy(id, { deploymentType, userRequiresApproval: true })).id;
}

/** The kinds of the jobs that wait, as an agent gets them. */
async function claimedKinds(): Promise<string[]> {
  const kinds: string[] = [];
  for (let job = await agent.claimAny(); job; job = await agent.claimAny()) {
    const { type } = await deploymentOf(job.deploymentId);
    kinds.push(job.phase === 'apply' ? 'apply' : type);
  }
  return kinds;
}

test('approved applies come first, then deploys, plans that change nothing, and drift detections', async () => {
  const approved = await queued('deploy');
  await agent.plan();
  // In the opposite order.
  for (const type of ['driftDetection', 'prPlan', 'dryRun', 'deploy']) {
    await queued(type);
    app.advance(1);
    if (type === 'deploy') await ok('approveDeployment', { id: approved });
  }
  assert.deepEqual(await claimedKinds(), ['apply', 'deploy', 'prPlan', 'dryRun', 'driftDetection']);
});

test('what waits for long enough comes before newer work of the classes before it', async () => {
  const [older, newer] = [await createIdle(), await createIdle()];
  await queued('driftDetection');
  for (const { environment, minutes } of [
    { environment: older, minutes: 19 },
    { environment: newer, minutes: 2 },
  ]) {
    app.advance(minutes * 60);
    await deploy(environment.id);
  }
  assert.deepEqual(await claimedKinds(), ['deploy', 'driftDetection', 'deploy']);
});

test('drift detections take half of the slots of a process at most, and others the rest', async () => {
  for (let index = 0; index < 3; index++) await queued('driftDetection');
  await agent.register([], { slots: 3 });
  const first = await agent.claim();
  assert.equal(await agent.claimAny(), null, 'half of three slots is one');
  const sibling = agent.sibling();
  await sibling.register([], { slots: 1 });
  assert.ok(await sibling.claimAny(), 'the only slot of a process is not kept free');
  const { id } = await createIdle();
  await deploy(id);
  assert.equal((await agent.claim()).environmentId, id);
  await agent.finish(first, plannedOutcome({ hasChanges: false, hasResourceChanges: false }));
  assert.ok(await agent.claimAny(), 'the next one follows');
});

test('a job that comes back into the queue has its former place', async () => {
  await queued('deploy');
  const lost = await agent.claim();
  await queued('deploy');
  await agent.register([]);
  await agent.register([]);
  const again = await agent.claim();
  assert.deepEqual([again.jobId, again.attempt], [lost.jobId, lost.attempt + 1]);
});
