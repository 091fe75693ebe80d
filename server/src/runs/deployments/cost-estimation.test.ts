import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { CostEstimation } from '#contract/deployments/plan.ts';
import { covers } from '#contract/documents/coverage.ts';
import type { Job } from '#protocol/messages/job.ts';
import { plannedOutcome } from '../../../testing/agent.ts';
import { startAgentTests } from '../../../testing/start.ts';

const tests = await startAgentTests();
const { agent, projectId, ok, createActive, deploy, deploymentOf, environmentOf, forgetWork } = tests;
const setPolicy = (includeCostEstimation: boolean) =>
  ok('updatePolicy', { body: { projectId, includeCostEstimation } });

beforeEach(async () => {
  await forgetWork();
  await setPolicy(true);
});

const costEstimation: CostEstimation = {
  totalMonthlyCost: 151.8,
  monthlyCostDiff: 78,
  currency: 'USD',
  projects: [
    {
      pastBreakdown: { totalMonthlyCost: '73.8' },
      breakdown: {
        totalMonthlyCost: '151.8',
        resources: [{ name: 'aws_instance.web', resourceType: 'aws_instance', monthlyCost: '151.8' }],
      },
      diff: { totalMonthlyCost: '78' },
    },
  ],
};

const costStep = 'cost:estimation';

async function stepsOf(id: string): Promise<Record<string, string>> {
  const steps = await ok('listSteps', { params: { deploymentLogId: id } });
  return Object.fromEntries(steps.map(({ name, status }) => [name, status]));
}

/** A deployment of an environment, and the job of its plan. */
async function planning(body: object = {}): Promise<{ id: string; environmentId: string; job: Job }> {
  const { id: environmentId } = await createActive();
  const { id } = await deploy(environmentId, body);
  return { id, environmentId, job: await agent.claim() };
}

test('where the policy includes it, costs are estimated between the plan and its approval, and shown', async () => {
  covers('updatePolicy', 'body.includeCostEstimation');
  covers('Deployment', 'costEstimation');
  // Again, although beforeEach does it: a claim drops its field only from requests inside of the test.
  await setPolicy(true);
  const { id, environmentId, job } = await planning({ userRequiresApproval: true });
  assert.equal(job.estimatesCosts, true);
  const names = Object.keys(await stepsOf(id));
  assert.deepEqual(names.slice(names.indexOf('tf:plan'), names.indexOf('tf:plan') + 3), [
    'tf:plan',
    costStep,
    'approval:wait',
  ]);
  assert.equal((await deploymentOf(id)).costEstimation, null);
  await agent.finish(job, plannedOutcome({ costEstimation }));
  const waiting = await deploymentOf(id);
  assert.deepEqual([waiting.status, waiting.costEstimation], ['WAITING_FOR_USER', costEstimation]);
  const list = await ok('listDeployments', { id: environmentId });
  assert.deepEqual(list[0]?.costEstimation, costEstimation);
  assert.deepEqual((await environmentOf(environmentId)).latestDeploymentLog.costEstimation, costEstimation);
  await ok('approveDeployment', { id });
  assert.equal((await agent.claim()).estimatesCosts, undefined, 'an apply estimates nothing');
});

test('without the policy, and in runs that plan nothing of the code, there is no such step', async () => {
  const { environmentId, ...drift } = await planning({ deploymentType: 'driftDetection' });
  assert.equal(Object.hasOwn(await stepsOf(drift.id), costStep), false);
  assert.equal(drift.job.estimatesCosts, undefined);
  await agent.finish(drift.job, plannedOutcome());
  await setPolicy(false);
  const { id } = await deploy(environmentId);
  assert.equal(Object.hasOwn(await stepsOf(id), costStep), false);
  assert.equal((await agent.claim()).estimatesCosts, undefined);
});

test('destroys, and plans that no one applies, say what they would cost', async () => {
  const { id, job } = await planning({ deploymentType: 'dryRun' });
  assert.equal(job.estimatesCosts, true);
  await agent.finish(job, plannedOutcome({ costEstimation }));
  const done = await deploymentOf(id);
  assert.deepEqual([done.status, done.costEstimation?.totalMonthlyCost], ['SUCCESS', 151.8]);
  const { id: environmentId } = await createActive();
  await ok('destroyEnvironment', { id: environmentId });
  assert.equal((await agent.claim()).estimatesCosts, true);
});

test('an agent cannot store more than an estimate', async () => {
  const { job } = await planning();
  for (const invalid of [
    { totalMonthlyCost: 'much' },
    { currency: '\u202eUSD' },
    { projects: [{ diff: { totalMonthlyCost: '1e99' } }] },
  ]) {
    const costs = { ...costEstimation, ...invalid } as object as CostEstimation;
    const outcome = plannedOutcome({ costEstimation: costs });
    const refused = await agent.send('finish', job, { fence: job.fence, outcome });
    assert.equal(refused.statusCode, 400, refused.body);
    assert.match(refused.body, /costEstimation/);
  }
});
