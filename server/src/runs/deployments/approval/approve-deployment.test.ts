import assert from 'node:assert/strict';
import { beforeEach, type TestContext, test } from 'node:test';
import pg from 'pg';
import { covers } from '#contract/documents/coverage.ts';
import type { Job } from '#protocol/messages/job.ts';
import { until } from '../../../../../tools/suite/until.ts';
import { appliedOutcome, plannedOutcome, stateFile, type TestAgent } from '../../../../testing/agent.ts';
import { fieldOf, fieldsOf } from '../../../../testing/fields.ts';
import { startAgentTests } from '../../../../testing/start.ts';

const tests = await startAgentTests();
const { app, agent, call, ok, refused, sql } = tests;
const { createActive, createEnvironment, deploy, deploymentOf, environmentOf, forgetWork } = tests;
beforeEach(() => forgetWork());

async function waitingDeployment(more: object = {}) {
  const environment = await createEnvironment(more);
  const { jobId, attempt, fence } = await agent.claim();
  const plan = { jobId, attempt, fence };
  await agent.finish(plan, plannedOutcome());
  return { id: environment.latestDeploymentLogId ?? '', environmentId: environment.id, plan };
}

test('an approved plan continues, with its hash and its reviewer', async () => {
  covers(
    'Deployment',
    'reviewers',
    'reviewersUsers',
    'reviewedBy',
    'reviewedByUser',
    'planHash',
    'planSummary',
  );
  const { id, environmentId, plan } = await waitingDeployment();
  const waiting = await deploymentOf(id);
  assert.deepEqual(
    [waiting.status, waiting.waitingFor?.kind, waiting.planSummary],
    ['WAITING_FOR_USER', 'approval', { added: 1, changed: 0, destroyed: 0 }],
  );
  assert.match(waiting.waitingFor?.text ?? '', /approve or refuse: 1 to add$/);
  assert.equal((await environmentOf(environmentId)).status, 'WAITING_FOR_USER');
  const reference = await ok('approveDeployment', {
    id,
    body: { planHash: waiting.planHash, comment: 'as discussed' },
  });
  assert.deepEqual(reference, { id, status: 'IN_PROGRESS' });
  const approved = await deploymentOf(id);
  assert.deepEqual(
    [approved.status, approved.reviewers, approved.reviewedBy],
    ['IN_PROGRESS', [{ userId: 'admin', action: 'approved' }], 'admin'],
  );
  assert.deepEqual(
    [approved.reviewersUsers[0]?.user.name, approved.reviewedByUser?.name],
    ['First admin key', 'First admin key'],
  );
  const [{ at, ...review } = assert.fail()] = approved.reviews ?? [];
  assert.deepEqual(review, {
    user: approved.reviewedByUser,
    action: 'approved',
    planHash: waiting.planHash,
    comment: 'as discussed',
  });
  assert.ok(Math.abs(Date.parse(at) - app.context.now().getTime()) < 60_000);
  const job = await agent.claim();
  assert.deepEqual([job.phase, job.approved?.hash, job.workFolder], ['apply', waiting.planHash, '/srv/work']);
  assert.deepEqual(job.approved?.continues, plan, 'this agent may still have its tree');
  assert.equal(job.systemVariables.ENVARIUM_REVIEWER_USER_ID, 'admin');
  await agent.apply(job);
  assert.equal((await deploymentOf(id)).status, 'SUCCESS');
});

/** Claims that are waiting: each has looked for a job once. */
async function waitingClaims(t: TestContext, agents: readonly TestAgent[]): Promise<Promise<Job | null>[]> {
  const query = t.mock.method(pg.Client.prototype, 'query');
  const claims = agents.map((each) => each.claimAny(20));
  const looks = () =>
    query.mock.calls.filter(({ arguments: [statement] }) =>
      JSON.stringify(statement).includes('skip locked'),
    );
  await until('the look of each agent', () => looks().length >= agents.length);
  await Promise.all(looks().map(({ result }) => result as unknown as Promise<unknown>));
  query.mock.restore();
  return claims;
}

test('an apply goes to the agent that planned it if that is waiting, otherwise to another one', async (t) => {
  const others = [agent.sibling(), agent.sibling()];
  for (const other of others) await other.register();
  const first = await waitingDeployment();
  const [planner, waiting = assert.fail(), ...rest] = await waitingClaims(t, [agent, ...others]);
  await ok('approveDeployment', { id: first.id });
  const apply = (await planner) ?? assert.fail();
  assert.deepEqual(apply.approved?.continues, first.plan);
  await agent.apply(apply);
  assert.equal(rest.length, 1);

  const second = await createEnvironment();
  const [planned, index] = await Promise.race(
    [waiting, ...rest].map(async (claim, index) => [(await claim) ?? assert.fail(), index] as const),
  );
  await others[index]?.finish(planned, plannedOutcome());
  await ok('approveDeployment', { id: second.latestDeploymentLogId ?? '' });
  const elsewhere = (await [waiting, ...rest][1 - index]) ?? assert.fail();
  assert.deepEqual([elsewhere.phase, elsewhere.approved?.continues], ['apply', undefined]);
  await others[1 - index]?.apply(elsewhere);
});

test('only one of many simultaneous approvals wins', async () => {
  const { id } = await waitingDeployment();
  const replies = await Promise.all(Array.from({ length: 6 }, () => call('approveDeployment', { id })));
  assert.deepEqual(replies.map(({ statusCode }) => statusCode).toSorted(), [200, 409, 409, 409, 409, 409]);
  assert.equal((await deploymentOf(id)).reviewers.length, 1);
  const rows = await sql('select phase from job where deployment_id = $1', id);
  assert.deepEqual(rows.map(({ phase }) => phase).toSorted(), ['apply', 'plan']);
  await agent.apply(await agent.claim());
});

test('only one of a simultaneous approval and cancellation counts', async () => {
  const { id } = await waitingDeployment();
  const replies = await Promise.all([call('approveDeployment', { id }), call('cancelDeployment', { id })]);
  assert.deepEqual(replies.map(({ statusCode }) => statusCode).toSorted(), [200, 409]);
  const { status, reviewers } = await deploymentOf(id);
  assert.deepEqual(fieldOf(reviewers, 'action'), [status === 'CANCELLED' ? 'cancelled' : 'approved']);
  if (status === 'IN_PROGRESS') await ok('abortDeployment', { id });
});

test('a refusal is kept with its comment, and lists show it', async () => {
  const { id, environmentId } = await waitingDeployment();
  await ok('cancelDeployment', { id, body: { comment: 'too expensive' } });
  const found = await deploymentOf(id);
  assert.deepEqual(fieldsOf(found.reviews, 'action', 'comment'), [['cancelled', 'too expensive']]);
  const listed = await ok('listDeployments', { id: environmentId });
  assert.deepEqual(listed[0]?.reviews, found.reviews);
});

test('the hash of another plan is refused', async () => {
  const { id } = await waitingDeployment();
  await refused('approveDeployment', 409, /\/body\/planHash/, { id, body: { planHash: 'f'.repeat(64) } });
  assert.equal((await deploymentOf(id)).status, 'WAITING_FOR_USER');
  await ok('cancelDeployment', { id });
});

test('a plan older than the current state cannot be approved', async () => {
  const environment = await createEnvironment({ requiresApproval: false });
  const first = await agent.plan();
  assert.ok(first);
  await agent.mark(first);
  app.advance(2000);
  const { sweepSilence } = await import('../../dispatch/sweep-silence.ts');
  for (let passes = 0; passes < 70; passes++) {
    app.advance(13);
    await sweepSilence(app.context);
  }
  assert.equal((await environmentOf(environment.id)).status, 'FAILED');
  const second = await deploy(environment.id, { userRequiresApproval: true });
  await agent.heartbeat([]);
  await agent.finish(await agent.claim(), plannedOutcome());
  const late = await agent.putState(first, stateFile(1, ['a'], environment.id), '');
  assert.equal(late.standing, 'current');
  await refused('approveDeployment', 409, /outdated/, { id: second.id });
  await ok('cancelDeployment', { id: second.id });
});

test('a plan is not applied when the state changed while it was made', async () => {
  const environment = await createActive();
  const deployment = await deploy(environment.id);
  const job = await agent.claim();
  await sql('update environment set current_state_version_id = null where id = $1', environment.id);
  assert.equal(await agent.finish(job, plannedOutcome()), null);
  const { status, error } = await deploymentOf(deployment.id);
  assert.equal(status, 'FAILURE');
  assert.match(error?.message ?? '', /outdated/);
});

test('only waiting deployments can be approved, and running ones cannot be cancelled', async () => {
  const environment = await createEnvironment();
  const id = environment.latestDeploymentLogId ?? '';
  await refused('approveDeployment', 409, /IN_PROGRESS/, { id });
  await refused('cancelDeployment', 409, /abort it instead/, { id });
  await ok('abortDeployment', { id });
  for (const name of ['approveDeployment', 'cancelDeployment', 'abortDeployment'] as const)
    await refused(name, 409, { id });
});

test('a plan without a decision times out, and the next one starts', async () => {
  const { id, environmentId } = await waitingDeployment();
  const next = await deploy(environmentId);
  const { expireApprovals } = await import('./expire-approvals.ts');
  await expireApprovals(app.context);
  assert.equal((await deploymentOf(id)).status, 'WAITING_FOR_USER');
  app.advance(31 * 86_400);
  await expireApprovals(app.context);
  const late = await deploymentOf(id);
  assert.equal(late.status, 'TIMEOUT');
  assert.match(late.error?.message ?? '', /ENVARIUM_APPROVAL_WAIT_DAYS/);
  assert.equal((await deploymentOf(next.id)).status, 'IN_PROGRESS');
  await ok('abortDeployment', { id: next.id });
});

test('requiresApproval of the request applies to this and later runs; the variable takes precedence', async () => {
  covers('deployEnvironment', 'body.userRequiresApproval');
  covers('createEnvironmentWithoutTemplate', 'body.requiresApproval');
  covers('Environment', 'requiresApproval');
  const environment = await createActive();
  const awaiting = await deploy(environment.id, {
    userRequiresApproval: true,
    configurationChanges: { name: 'ENVARIUM_REQUIRES_APPROVAL', value: 'false' },
  });
  assert.equal((await environmentOf(environment.id)).requiresApproval, true);
  const next = await agent.plan();
  assert.equal(next?.deploymentId, awaiting.id);
  await agent.finish(
    next ?? assert.fail('no apply'),
    appliedOutcome({ result: 'failed', error: { message: 'x' } }),
  );
  await deploy(environment.id, {
    configurationChanges: [{ name: 'ENVARIUM_REQUIRES_APPROVAL', toDelete: true }],
  });
  assert.equal(await agent.plan(), null);
});
