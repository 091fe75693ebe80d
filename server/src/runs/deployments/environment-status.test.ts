import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import type { Outcome } from '#protocol/messages/outcome.ts';
import { plannedOutcome } from '../../../testing/agent.ts';
import { fieldOf } from '../../../testing/fields.ts';
import { startAgentTests } from '../../../testing/start.ts';

const tests = await startAgentTests();
const { app, agent, ok, refused } = tests;
const { createActive, createEnvironment, createIdle, deploy, deploymentOf, environmentOf } = tests;
const statusOf = async (id: string) => (await environmentOf(id)).status;
const failed: Outcome = {
  result: 'failed',
  finishedAt: new Date().toISOString(),
  failedCommand: 'tf:plan',
  error: { message: 'Error: no', exitCode: 1 },
};

beforeEach(async () => {
  for (let job = await agent.claimAny(); job; job = await agent.claimAny()) await agent.finish(job, failed);
});

test('the status of an environment follows it from creation to destruction', async () => {
  covers('Environment', 'status', 'resources');
  covers('Resource', 'name');
  covers(
    'Deployment',
    'type',
    'resourceCount',
    'resources',
    'output',
    'stateVersionId',
    'startedBy',
    'startedByUser',
  );
  const environment = await createEnvironment();
  const { id } = environment;
  const seen = [environment.status, await statusOf(id)];
  await agent.plan();
  seen.push(await statusOf(id));
  await ok('approveDeployment', { id: environment.latestDeploymentLogId ?? '' });
  seen.push(await statusOf(id));
  const apply = await agent.claim();
  const version = await agent.apply(apply, ['a', 'b'], {
    outputs: {
      endpoint: { value: 'x', sensitive: false, type: 'string' },
      key: { value: 'planted-output', sensitive: true, type: 'string' },
    },
  });
  seen.push(await statusOf(id));
  const done = await deploymentOf(environment.latestDeploymentLogId ?? '');
  assert.deepEqual(
    [done.type, done.status, done.resourceCount, fieldOf(done.resources, 'name'), done.stateVersionId],
    ['deploy', 'SUCCESS', 2, ['a', 'b'], version],
  );
  assert.deepEqual([done.startedBy, done.startedByUser?.user_id], [app.admin.id, app.admin.id]);
  assert.deepEqual(done.output, {
    endpoint: { value: 'x', sensitive: false, type: 'string' },
    key: { value: '********', sensitive: true, type: 'string' },
  });
  assert.equal((await environmentOf(id)).resources?.length, 2);
  const destroy = await ok('destroyEnvironment', { id });
  seen.push(await statusOf(id));
  assert.equal((await agent.claim()).type, 'destroy');
  await ok('abortDeployment', { id: destroy.id });
  seen.push(await statusOf(id));
  assert.deepEqual(seen, [
    'CREATED',
    'DEPLOY_IN_PROGRESS',
    'WAITING_FOR_USER',
    'DEPLOY_IN_PROGRESS',
    'ACTIVE',
    'DESTROY_IN_PROGRESS',
    'ABORTING',
  ]);
});

test('failed deployments change the status, and cancelled ones restore the previous status', async () => {
  covers('Deployment', 'error', 'failedCommand');
  covers('DeploymentError', 'message', 'exitCode');
  const environment = await createEnvironment();
  await agent.finish(await agent.claim(), failed);
  assert.equal(await statusOf(environment.id), 'FAILED');
  const log = await deploymentOf(environment.latestDeploymentLogId ?? '');
  assert.deepEqual(
    [log.status, log.error, log.failedCommand],
    ['FAILURE', { message: 'Error: no', exitCode: 1 }, 'tf:plan'],
  );
  for (const [result, status] of [
    ['timed-out', 'TIMEOUT'],
    ['internal', 'FAILED'],
    ['aborted', 'ABORTED'],
  ] as const) {
    await deploy(environment.id);
    await agent.finish(await agent.claim(), { result, finishedAt: new Date().toISOString() });
    assert.equal(await statusOf(environment.id), status, result);
  }
  const { id } = await deploy(environment.id);
  await agent.plan();
  await ok('cancelDeployment', { id });
  assert.equal(await statusOf(environment.id), 'ABORTED');
  const idle = await createIdle();
  const dry = await deploy(idle.id, { deploymentType: 'dryRun' });
  assert.equal(await statusOf(idle.id), 'DRY_RUN_IN_PROGRESS');
  await agent.plan();
  assert.deepEqual(
    [await statusOf(idle.id), (await deploymentOf(dry.id)).status],
    ['NEVER_DEPLOYED', 'SUCCESS'],
  );
});

test('a pull request plan does not change the environment', async () => {
  const active = await createActive();
  const { id } = await deploy(active.id, { deploymentType: 'prPlan' });
  const view = await environmentOf(active.id);
  assert.deepEqual([view.status, view.latestDeploymentLogId === id], ['ACTIVE', false]);
  await agent.finish(await agent.claim(), failed);
  assert.equal(await statusOf(active.id), 'ACTIVE');
});

test('a drift run reports its result in a separate status', async () => {
  covers('getDriftStatus', 'reply');
  covers('getDriftStatus');
  covers('Environment', 'driftStatus');
  covers('Deployment', 'driftDetected');
  covers('DriftStatusResult', 'driftDeployment', 'eventsScanStatus');
  const active = await createActive();
  const driftOf = async () => [(await environmentOf(active.id)).driftStatus, await statusOf(active.id)];
  assert.deepEqual(await driftOf(), ['DISABLED', 'ACTIVE']);
  const nothing = { added: 0, changed: 0, destroyed: 0 };
  const settled = plannedOutcome({ planSummary: nothing, hasResourceChanges: true });
  const runs: [Outcome, string][] = [
    [plannedOutcome({ planSummary: nothing, hasChanges: false, hasResourceChanges: false }), 'OK'],
    [plannedOutcome({ hasResourceChanges: true }), 'DRIFTED'],
    [settled, 'OK'],
    [failed, 'ERROR'],
  ];
  for (const [outcome, drift] of runs) {
    const { id } = await deploy(active.id, { deploymentType: 'driftDetection' });
    await agent.finish(await agent.claim(), outcome);
    assert.deepEqual(await driftOf(), [drift, 'ACTIVE']);
    const found = await ok('getDriftStatus', { id });
    assert.deepEqual([found.driftDeployment.id, found.eventsScanStatus], [id, 'NOT_CONFIGURED']);
    assert.equal(found.driftDeployment.driftDetected, drift === 'ERROR' ? undefined : drift === 'DRIFTED');
  }
  await refused('getDriftStatus', 404, /drift/, { id: active.latestDeploymentLogId ?? '' });
  await deploy(active.id, { userRequiresApproval: false });
  const next = await agent.plan();
  await agent.apply(next ?? assert.fail('no apply'));
  assert.deepEqual(await driftOf(), ['OK', 'ACTIVE']);
});

test('an abort ends a run that no agent has yet; otherwise its agent is notified', async () => {
  covers('Deployment', 'abortedBy', 'abortedByUser');
  const environment = await createEnvironment();
  const id = environment.latestDeploymentLogId ?? '';
  assert.equal(await ok('abortDeployment', { id }), null);
  const aborted = await deploymentOf(id);
  assert.deepEqual(
    [aborted.status, aborted.abortedBy, aborted.abortedByUser?.name, await statusOf(environment.id)],
    ['ABORTED', 'admin', 'First admin key', 'ABORTED'],
  );
  assert.equal(await agent.claimAny(), null);
  const second = await deploy(environment.id);
  const third = await deploy(environment.id);
  const job = await agent.claim();
  await ok('abortDeployment', { id: second.id });
  assert.equal(await ok('abortDeployment', { id: second.id }), null);
  assert.deepEqual(
    [(await deploymentOf(second.id)).status, await statusOf(environment.id)],
    ['ABORTING', 'ABORTING'],
  );
  const { abort } = await agent.heartbeat([job]);
  assert.deepEqual(
    abort.filter(({ jobId }) => jobId === job.jobId),
    [{ jobId: job.jobId, attempt: job.attempt, how: 'gently' }],
  );
  assert.equal((await agent.report(job, {})).abort, 'gently');
  await agent.finish(job, failed);
  assert.deepEqual(
    [(await deploymentOf(second.id)).status, (await deploymentOf(third.id)).status],
    ['ABORTED', 'IN_PROGRESS'],
  );
  await refused('abortDeployment', 409, /ABORTED/, { id: second.id });
});

test('an apply that lost its state reports that', async () => {
  const environment = await createEnvironment({ requiresApproval: false });
  const next = (await agent.plan()) ?? assert.fail('no apply');
  await agent.mark(next);
  await agent.finish(next, {
    result: 'applied',
    finishedAt: new Date().toISOString(),
    isStateOurs: true,
    outputs: {},
  });
  const log = await deploymentOf(environment.latestDeploymentLogId ?? '');
  assert.equal(log.status, 'INTERNAL_FAILURE');
  assert.match(log.error?.message ?? '', /no newer state/);
});

test('an apply whose tool wrote the same state again is a success', async () => {
  const environment = await createEnvironment({ requiresApproval: false });
  const next = (await agent.plan()) ?? assert.fail('no apply');
  await agent.mark(next);
  const finishedAt = new Date().toISOString();
  await agent.finish(next, { result: 'applied', finishedAt, isStateOurs: true, isStateSame: true });
  assert.equal((await deploymentOf(environment.latestDeploymentLogId ?? '')).status, 'SUCCESS');
});
