/** Deployments that plan units once others are applied, with an agent that makes each call of the protocol. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { PlannedUnit } from '#contract/deployments/plan.ts';
import type { Job } from '#protocol/messages/job.ts';
import { appliedOutcome, plannedOutcome, stateFile } from '../../../testing/agent.ts';
import { settingsOfUnits } from '../../../testing/environment.ts';
import { fieldOf } from '../../../testing/fields.ts';
import { policyInput, startPolicyTests } from '../../../testing/guarded.ts';

const tests = await startPolicyTests();
const { app, agent, needsOpa, ok, refused } = tests;
const { createEnvironment, deploymentOf, environmentOf, forgetWork, guarded } = tests;
await agent.register([], { tools: ['terragrunt'] });
beforeEach(() => forgetWork());

const waits = { reason: 'it needs outputs', follows: true } as const;
const kind = 'create terraform_data';
const chain: PlannedUnit[] = [
  { unit: 'vpc', changes: { [kind]: 1 } },
  { unit: 'app', changes: { [kind]: 1 }, ...waits },
  { unit: 'web', ...waits },
];
/** Of the outcomes here. */
const toolVersion = plannedOutcome().toolVersion ?? '';

async function start(more: object = {}): Promise<{ id: string; environmentId: string }> {
  const environment = await createEnvironment({ ...settingsOfUnits, ...more });
  return { id: environment.latestDeploymentLogId ?? '', environmentId: environment.id };
}

/** Plans the level that is next. @returns the apply that follows at once, or null */
async function planLevel(units: PlannedUnit[], level?: Partial<Job['level']>): Promise<Job | null> {
  const job = await agent.claim();
  assert.equal(job.phase, 'plan');
  if (level) assert.deepEqual(job.level, level);
  await agent.putBlob(job, 'plan', `plan of ${job.level?.number}`);
  await agent.putBlob(job, 'tree', 'tree');
  if (job.isPolicyInputWanted) await agent.putBlob(job, 'policy-input', JSON.stringify(policyInput));
  return agent.finish(job, plannedOutcome({ units }));
}

const applied = (job: Job | null) => agent.apply(job ?? assert.fail('the apply follows'), ['a']);
const approve = async (id: string) => {
  const { planHash } = await deploymentOf(id);
  await ok('approveDeployment', { id, body: { planHash } });
};

test('without approval, a chain of units is one deployment, level after level', async () => {
  const { id } = await start({ requiresApproval: false });
  await applied(await planLevel(chain, { number: 1, units: [], done: [] }));
  const between = await deploymentOf(id);
  assert.deepEqual([between.status, between.level], ['IN_PROGRESS', 2]);
  const [, ...rest] = chain;
  const second = await planLevel(
    rest.map((each) => (each.unit === 'app' ? { unit: 'app', changes: { [kind]: 9 } } : each)),
    { number: 2, units: ['app', 'web'], done: ['vpc'], toolVersion },
  );
  assert.equal((await deploymentOf(id)).units?.length, 2);
  await applied(second);
  const last = { number: 3, units: ['web'], done: ['vpc', 'app'], toolVersion };
  await applied(await planLevel([{ unit: 'web', changes: { [kind]: 1 } }], last));
  const ended = await deploymentOf(id);
  assert.equal(ended.status, 'SUCCESS');
  assert.deepEqual(fieldOf(ended.units, 'unit'), ['vpc', 'app', 'web']);
  const levels = ended.earlierLevels?.map((each) => [each.level, each.units?.length, each.planHash?.length]);
  assert.deepEqual(levels, [
    [1, 3, 64],
    [2, 2, 64],
  ]);
  const { milliseconds, phases } = await ok('getDeploymentTimeline', { id });
  assert.ok(phases.every((each) => each.milliseconds >= 0 && each.milliseconds <= milliseconds));
  assert.equal(await agent.claimAny(), null);
});

test('a level within what was approved is applied, and another one waits for the same person again', async () => {
  const { id, environmentId } = await start();
  assert.equal(await planLevel(chain), null);
  const { waitingFor } = await deploymentOf(id);
  assert.match(
    waitingFor?.text ?? '',
    /also covers what follows .*: app \(1 × create terraform_data\)\. web has no plan yet/,
  );
  await approve(id);
  const first = await agent.claim();
  await applied(first);
  await applied(
    await planLevel([
      { unit: 'app', changes: { [kind]: 1 } },
      { unit: 'web', ...waits },
    ]),
  );
  assert.equal(await planLevel([{ unit: 'web', changes: { [kind]: 1 } }]), null);
  const again = await deploymentOf(id);
  assert.equal(again.status, 'WAITING_FOR_USER');
  assert.equal((await environmentOf(environmentId)).status, 'WAITING_FOR_USER');
  assert.match(again.waitingFor?.text ?? '', /Applied before: vpc, app/);
  assert.deepEqual(again.waitingFor?.approval?.excluded, []);
  const stale = { planHash: first.approved?.hash };
  await refused('approveDeployment', 409, { id, body: stale });
  await approve(id);
  const third = await agent.claim();
  assert.equal(third.approved?.hash, again.planHash);
  const blob = await agent.send('getBlob', { ...third, blob: 'plan', query: { fence: String(third.fence) } });
  assert.equal(blob.body, 'plan of 3');
  await applied(third);
  const ended = await deploymentOf(id);
  assert.deepEqual([ended.status, ended.reviews?.length], ['SUCCESS', 2]);
});

test('a level that changes more than what was approved waits, whatever was applied before', async () => {
  const more: Record<string, number>[] = [{ [kind]: 2 }, { [kind]: 1, 'destroy terraform_data': 1 }];
  for (const changes of more) {
    const { id } = await start();
    await planLevel(chain.slice(0, 2));
    await approve(id);
    await applied(await agent.claim());
    assert.equal(await planLevel([{ unit: 'app', changes }]), null);
    assert.equal((await deploymentOf(id)).status, 'WAITING_FOR_USER');
  }
});

test('a level that is refused leaves an environment that can be destroyed', async () => {
  const { id, environmentId } = await start();
  await planLevel([chain[0]!, chain[2]!]);
  await approve(id);
  await applied(await agent.claim());
  await planLevel([{ unit: 'web', changes: { [kind]: 1 } }]);
  await ok('cancelDeployment', { id });
  assert.equal((await deploymentOf(id)).status, 'CANCELLED');
  assert.equal((await environmentOf(environmentId)).status, 'ACTIVE');
  await ok('destroyEnvironment', { id: environmentId });
  const destroy = await agent.claim();
  assert.deepEqual(
    [destroy.type, destroy.source.revision, destroy.level],
    ['destroy', 'c'.repeat(40), undefined],
  );
});

test('a plan between two levels that is lost starts again, and an apply with a mark does not', async () => {
  const { id } = await start({ requiresApproval: false });
  await applied(await planLevel(chain.slice(0, 2)));
  const lost = await agent.claim();
  app.advance(120);
  for (let list = 0; list < 2; list += 1) await agent.heartbeat([]);
  const again = await agent.claim();
  assert.deepEqual([again.jobId, again.attempt, again.level?.number], [lost.jobId, 2, 2]);
  await agent.putBlob(again, 'plan', 'plan');
  const apply = await agent.finish(again, plannedOutcome({ units: [{ unit: 'app', changes: {} }] }));
  assert.ok(apply);
  await agent.mark(apply);
  app.advance(120);
  for (let list = 0; list < 2; list += 1) await agent.heartbeat([]);
  assert.equal((await deploymentOf(id)).status, 'INTERNAL_FAILURE');
  assert.equal(await agent.claimAny(), null);
});

test('an outcome that is sent again does not hand out the apply of another level', async () => {
  await start({ requiresApproval: false });
  const apply = (await planLevel(chain.slice(0, 2))) ?? assert.fail();
  await agent.mark(apply);
  const { stateVersionId } = await agent.putState(apply, stateFile(1, ['a'], apply.environmentId), '');
  const outcome = appliedOutcome({ resourceCount: 1, stateVersionId });
  assert.equal(await agent.finish(apply, outcome), null);
  const second = await planLevel([{ unit: 'app', changes: {} }]);
  assert.ok(second);
  assert.equal(await agent.finish(apply, outcome), null);
});

test('an abort during a level ends the deployment after it, and a failure names what was applied', async () => {
  const { id } = await start({ requiresApproval: false });
  const apply = (await planLevel(chain)) ?? assert.fail();
  await ok('abortDeployment', { id });
  await applied(apply);
  assert.equal((await deploymentOf(id)).status, 'ABORTED');
  const failing = await start({ requiresApproval: false });
  await applied(await planLevel(chain));
  const error = { message: 'no such file' };
  await agent.finish(await agent.claim(), plannedOutcome({ result: 'failed', error }));
  const failed = await deploymentOf(failing.id);
  assert.equal(failed.status, 'FAILURE');
  assert.match(failed.error?.message ?? '', /^no such file\n\nApplied before in this deployment: vpc\./);
});

test('approval policies judge the plan of each level', needsOpa, async () => {
  const two = `package envarium
pending contains "two" if count(input.approvers) < 1
allow contains "enough" if count(input.approvers) >= 1`;
  const { environment } = await guarded([two], settingsOfUnits);
  const { id } = await ok('deployEnvironment', { id: environment.id, body: {} });
  const check = async () => {
    await app.carryOutEffects();
    return (await deploymentOf(id)).status;
  };
  await planLevel(chain);
  assert.equal(await check(), 'WAITING_FOR_USER');
  await approve(id);
  assert.equal(await check(), 'IN_PROGRESS');
  await applied(await agent.claim());
  // Within what was approved, the approver counts again.
  await planLevel([
    { unit: 'app', changes: { [kind]: 1 } },
    { unit: 'web', ...waits },
  ]);
  assert.equal(await check(), 'IN_PROGRESS');
  await applied(await agent.claim());
  await planLevel([{ unit: 'web', changes: { [kind]: 1 } }]);
  assert.equal(await check(), 'WAITING_FOR_USER');
  await approve(id);
  assert.equal(await check(), 'IN_PROGRESS');
  await applied(await agent.claim());
  assert.equal((await deploymentOf(id)).status, 'SUCCESS');
});

test('a policy that denies the plan of a level ends the deployment', needsOpa, async () => {
  const count = 'count(input.plan.resource_changes)';
  const policy = `package envarium\nallow contains "a.b" if ${count} > 0\ndeny contains "no a.b" if ${count} == 0`;
  const { environment } = await guarded([policy], settingsOfUnits);
  const { id } = await ok('deployEnvironment', { id: environment.id, body: {} });
  await planLevel(chain);
  await app.carryOutEffects();
  await applied(await agent.claim());
  const job = await agent.claim();
  await agent.putBlob(job, 'policy-input', JSON.stringify({ plan: { resource_changes: [] } }));
  await agent.finish(job, plannedOutcome({ units: [{ unit: 'app', changes: { [kind]: 1 } }] }));
  await app.carryOutEffects();
  const { status, policyVerdicts = [], error } = await deploymentOf(id);
  assert.equal(status, 'CANCELLED');
  assert.deepEqual(fieldOf(policyVerdicts, 'decision'), ['allow', 'deny']);
  assert.match(error?.message ?? '', /denies the plan: no a\.b/);
  assert.equal((await environmentOf(environment.id)).status, 'ACTIVE');
});
