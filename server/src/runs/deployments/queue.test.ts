import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import { plannedOutcome } from '../../../testing/agent.ts';
import { fieldOf } from '../../../testing/fields.ts';
import { startAgentTests } from '../../../testing/start.ts';

const tests = await startAgentTests();
const { agent, ok, refused, sql } = tests;
const { createActive, createEnvironment, createIdle, deploy, deploymentOf, environmentOf } = tests;
const statusOf = async (id: string) => (await deploymentOf(id)).status;
const lock = (id: string, isLocked: boolean, reason?: string) =>
  ok('setEnvironmentLock', { id, body: { isLocked, ...(reason ? { reason } : {}) } });

/** An environment whose plan waits for a person. */
async function createWaiting() {
  const environment = await createEnvironment();
  const job = await agent.claim();
  assert.equal(await agent.finish(job, plannedOutcome()), null);
  return { environment, waiting: environment.latestDeploymentLogId ?? '' };
}

/** Takes whatever is queued for agents to a good end. */
async function drain(): Promise<void> {
  for (let job = await agent.claimAny(); job; job = await agent.claimAny()) {
    const next = await agent.finish(job, plannedOutcome());
    if (next) await agent.apply(next);
  }
}

beforeEach(drain);

test('a second deployment is queued, says behind which one, and starts when that one ends', async () => {
  covers('Deployment', 'status', 'queuedAt', 'startedAt', 'finishedAt', 'waitingFor');
  covers('WaitingFor', 'kind', 'id', 'text');
  const { environment, waiting } = await createWaiting();
  const second = await deploy(environment.id, { userRequiresApproval: false });
  assert.deepEqual(
    [second.status, second.startedAt, second.waitingFor?.kind, second.waitingFor?.id],
    ['QUEUED', null, 'deployment', waiting],
  );
  assert.match(second.waitingFor?.text ?? '', /^Queued behind the deploy /);
  const third = await deploy(environment.id);
  assert.deepEqual([third.status, third.waitingFor?.id], ['QUEUED', waiting]);
  assert.equal(await agent.claimAny(), null);
  // However long the steps before it took, the agent counts as connected.
  await agent.heartbeat([]);
  await ok('cancelDeployment', { id: waiting });
  assert.deepEqual(
    [await statusOf(waiting), await statusOf(second.id), await statusOf(third.id)],
    ['CANCELLED', 'IN_PROGRESS', 'QUEUED'],
  );
  assert.ok((await deploymentOf(second.id)).startedAt);
  const rows = await sql<{ data: { waitingFor: { text: string } | null } }>(
    "select data from deployment_event where deployment_id = $1 and name = 'status' order by number desc limit 1",
    second.id,
  );
  assert.equal(
    rows[0]?.data.waitingFor?.text,
    'Waiting for a free agent',
    'its readers learn it with the move',
  );
  await drain();
  assert.deepEqual([await statusOf(second.id), await statusOf(third.id)], ['SUCCESS', 'SUCCESS']);
  const { queuedAt, startedAt, finishedAt } = await deploymentOf(second.id);
  assert.ok(Date.parse(queuedAt ?? '') <= Date.parse(startedAt ?? ''));
  assert.ok(Date.parse(startedAt ?? '') <= Date.parse(finishedAt ?? ''));
});

test('the database refuses a second running deployment of an environment, whatever the program decides', async () => {
  const { environment, waiting } = await createWaiting();
  const second = await deploy(environment.id);
  const run = (status: string) => sql('update deployment set status = $2 where id = $1', second.id, status);
  for (const status of ['IN_PROGRESS', 'WAITING_FOR_USER', 'ABORTING'])
    await assert.rejects(run(status), /deployment_one_active/);
  await ok('cancelDeployment', { id: second.id });
  await ok('cancelDeployment', { id: waiting });
});

test('all queued deployments are cancelled at once, oldest first, and running ones continue', async () => {
  const { environment, waiting } = await createWaiting();
  const queued = [await deploy(environment.id), await deploy(environment.id, { deploymentType: 'dryRun' })];
  const { ids } = await ok('cancelQueuedDeployments', { id: environment.id, query: { status: 'QUEUED' } });
  assert.deepEqual(ids, fieldOf(queued, 'id'));
  for (const { id } of queued) assert.equal(await statusOf(id), 'CANCELLED');
  assert.equal(await statusOf(waiting), 'WAITING_FOR_USER');
  assert.deepEqual((await ok('cancelQueuedDeployments', { id: environment.id })).ids, []);
  await ok('cancelDeployment', { id: waiting });
});

test('a plan of a pull request runs alongside a deployment, but waits while one awaits approval', async () => {
  covers('deployEnvironment', 'body.deploymentType');
  const environment = await createEnvironment();
  const deployment = environment.latestDeploymentLogId ?? '';
  const alongside = await deploy(environment.id, { deploymentType: 'prPlan' });
  assert.equal(alongside.status, 'IN_PROGRESS');
  const [job, other] = [await agent.claim(), await agent.claim()];
  assert.deepEqual(new Set([job.deploymentId, other.deploymentId]), new Set([deployment, alongside.id]));
  for (const each of [job, other]) await agent.finish(each, plannedOutcome());
  assert.deepEqual(
    [await statusOf(alongside.id), await statusOf(deployment)],
    ['SUCCESS', 'WAITING_FOR_USER'],
  );
  const behind = await deploy(environment.id, { deploymentType: 'prPlan' });
  assert.deepEqual(
    [behind.status, behind.waitingFor?.kind, behind.waitingFor?.id],
    ['QUEUED', 'deployment', deployment],
  );
  const serial = await deploy(environment.id);
  await ok('approveDeployment', { id: deployment });
  assert.deepEqual(
    [await statusOf(deployment), await statusOf(behind.id), await statusOf(serial.id)],
    ['IN_PROGRESS', 'IN_PROGRESS', 'QUEUED'],
  );
  assert.equal((await environmentOf(environment.id)).latestDeploymentLogId, deployment);
  await ok('cancelQueuedDeployments', { id: environment.id });
  await ok('abortDeployment', { id: behind.id });
  await ok('abortDeployment', { id: deployment });
});

test('a locked environment accepts no deployment; queued ones say so, and continue once it is unlocked', async () => {
  covers('Environment', 'isLocked', 'lockStatus');
  const { environment, waiting } = await createWaiting();
  const queued = await deploy(environment.id);
  await lock(environment.id, true, 'audit');
  const view = await environmentOf(environment.id);
  assert.deepEqual(
    [
      view.isLocked,
      view.lockStatus?.reason,
      view.lockStatus?.updatedBy,
      view.lockStatus?.updatedByUser?.name,
    ],
    [true, 'audit', 'admin', 'First admin key'],
  );
  for (const deploymentType of ['deploy', 'prPlan', 'driftDetection', 'dryRun']) {
    await refused('deployEnvironment', 409, /locked \(audit\)/, {
      id: environment.id,
      body: { deploymentType },
    });
  }
  await refused('destroyEnvironment', 409, /locked/, { id: environment.id });
  await refused('approveDeployment', 409, /locked/, { id: waiting });
  await ok('cancelDeployment', { id: waiting });
  const held = await deploymentOf(queued.id);
  assert.deepEqual(
    [held.status, held.waitingFor?.kind, held.waitingFor?.text],
    ['QUEUED', 'lock', 'The environment is locked: audit'],
  );
  await lock(environment.id, false);
  assert.equal(await statusOf(queued.id), 'IN_PROGRESS');
  assert.ok(!('lockStatus' in (await environmentOf(environment.id))));
  await drain();
});

test('a lock does not stop a running deployment', async () => {
  const environment = await createEnvironment({ requiresApproval: false });
  const job = await agent.claim();
  await lock(environment.id, true);
  const next = await agent.finish(job, plannedOutcome());
  assert.ok(next);
  await agent.apply(next);
  assert.equal((await environmentOf(environment.id)).status, 'ACTIVE');
});

test('archiving cancels queued and waiting deployments but not running ones, and a deployment restores', async () => {
  covers('Environment', 'isArchived');
  const { environment, waiting } = await createWaiting();
  const queued = await deploy(environment.id);
  const archive = { id: environment.id, body: { isArchived: true } };
  const archived = await ok('updateEnvironment', archive);
  assert.deepEqual([archived.isArchived, archived.status], [true, 'INACTIVE']);
  assert.deepEqual([await statusOf(waiting), await statusOf(queued.id)], ['CANCELLED', 'CANCELLED']);
  await refused('destroyEnvironment', 400, /archived/, { id: environment.id });
  await refused('deployEnvironment', 409, { id: environment.id, body: { deploymentType: 'driftDetection' } });
  const back = await deploy(environment.id);
  assert.equal(back.status, 'IN_PROGRESS');
  assert.equal((await environmentOf(environment.id)).isArchived, false);
  const later = await deploy(environment.id);
  await refused('updateEnvironment', 409, /IN_PROGRESS/, archive);
  assert.equal(await statusOf(later.id), 'QUEUED');
  await drain();
});

test('a destroy of nothing is a 400, and is queued while a deployment is under way', async () => {
  const idle = await createIdle();
  await refused('destroyEnvironment', 400, /never deployed: .* archive it$/, { id: idle.id });
  await refused('deployEnvironment', 409, { id: idle.id, body: { deploymentType: 'driftDetection' } });
  const active = await createActive();
  const destroy = await ok('destroyEnvironment', { id: active.id });
  assert.equal(destroy.type, 'destroy');
  await refused('destroyEnvironment', 400, /already being destroyed/, { id: active.id });
  await agent.run([], { planSummary: { added: 0, changed: 0, destroyed: 1 } });
  assert.equal((await environmentOf(active.id)).status, 'INACTIVE');
  await refused('destroyEnvironment', 400, /inactive/, { id: active.id });
});

test('a destroy of nothing succeeds without its tool, also after waiting in the queue', async () => {
  const failed = await createEnvironment();
  await agent.finish(await agent.claim(), {
    result: 'failed',
    finishedAt: new Date().toISOString(),
    failedCommand: 'tf:init',
    error: { message: 'no' },
  });
  const atOnce = await ok('destroyEnvironment', { id: failed.id });
  assert.deepEqual([atOnce.status, atOnce.planSummary], ['SUCCESS', { added: 0, changed: 0, destroyed: 0 }]);
  assert.equal((await environmentOf(failed.id)).status, 'INACTIVE');
  const { environment, waiting } = await createWaiting();
  const destroy = await ok('destroyEnvironment', { id: environment.id });
  const deployAgain = await deploy(environment.id);
  assert.deepEqual([destroy.status, deployAgain.status], ['QUEUED', 'QUEUED']);
  await ok('cancelDeployment', { id: waiting });
  const ended = await deploymentOf(destroy.id);
  assert.deepEqual(
    [ended.status, ended.planSummary, ended.output],
    ['SUCCESS', { added: 0, changed: 0, destroyed: 0 }, {}],
  );
  assert.ok(ended.startedAt && ended.finishedAt);
  assert.deepEqual(
    new Set((await ok('listSteps', { params: { deploymentLogId: destroy.id } })).map(({ status }) => status)),
    new Set(['SKIPPED']),
  );
  assert.equal(await statusOf(deployAgain.id), 'IN_PROGRESS');
  await drain();
});
