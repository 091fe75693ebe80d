import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { emptyPlan, stateFile } from '../../../../testing/agent.ts';
import { startAgentTests } from '../../../../testing/start.ts';

const tests = await startAgentTests();
const { agent, ok } = tests;
const { add, createActive, createEnvironment, deploy, deploymentOf, environmentOf, forgetWork } = tests;
const { id: projectId } = await add('Project', 'skips empty plans');
await ok('updatePolicy', {
  body: { projectId, skipApplyWhenPlanIsEmpty: true, requiresApprovalDefault: false },
});
beforeEach(() => forgetWork());

const inside = { projectId, requiresApproval: false };
const text = (value: string) => ({ a: { value, type: 'string', sensitive: false } });

async function isSkipped(environmentId: string): Promise<boolean> {
  const { latestDeploymentLogId: id } = await environmentOf(environmentId);
  const { status, isSkippedApply = false } = await deploymentOf(id ?? '');
  assert.equal(status, 'SUCCESS');
  return isSkippedApply;
}

/** Deploys with an empty plan. @returns the apply, if it is not skipped */
async function deployNothing(environmentId: string, more: object = {}) {
  await deploy(environmentId);
  return agent.plan({ ...emptyPlan, ...more });
}

test('a state that was rolled back is read again, and what an apply of it reads is carried on', async () => {
  const { id } = await createEnvironment(inside);
  const first = await agent.apply((await agent.plan()) ?? assert.fail('no apply'), ['a'], {
    outputs: text('1'),
  });
  await deploy(id);
  await agent.apply((await agent.plan()) ?? assert.fail('no apply'), ['a', 'b'], { outputs: text('2') });
  assert.equal(await deployNothing(id), null);
  assert.equal(await isSkipped(id), true);
  await ok('rollBackState', { id: first });
  const apply = (await deployNothing(id)) ?? assert.fail('the state is not read');
  await agent.mark(apply);
  await agent.finish(apply, {
    ...{ result: 'applied', finishedAt: new Date().toISOString(), isStateOurs: true, isStateSame: true },
    ...{ outputs: text('1'), resources: [], resourceCount: 1 },
  });
  assert.equal(await isSkipped(id), false);
  assert.equal(await deployNothing(id), null);
  assert.equal(await isSkipped(id), true);
  const { latestDeploymentLog } = await environmentOf(id);
  assert.equal(latestDeploymentLog?.output?.['a']?.value, '1');
});

test('a state that a failed apply has stored is read again', async () => {
  const { id } = await createActive(inside);
  await deploy(id);
  const apply = (await agent.plan()) ?? assert.fail('no apply');
  await agent.mark(apply);
  const { current } = apply.state;
  const state = stateFile((current?.serial ?? 0) + 1, ['a', 'b'], current?.lineage);
  const { stateVersionId } = await agent.putState(apply, state, current?.stateVersionId ?? '');
  const error = { message: 'no such zone' };
  const finishedAt = new Date().toISOString();
  await agent.finish(apply, { result: 'failed', finishedAt, error, isStateOurs: true, stateVersionId });
  assert.ok(await deployNothing(id));
});

test('where the code has the state, it is read again after a run that did not', async () => {
  const elsewhere = { isStateOurs: false };
  const { id } = await createEnvironment(inside);
  const begin = async () => {
    const apply = (await agent.plan(elsewhere)) ?? assert.fail('no apply');
    await agent.mark(apply);
    return apply;
  };
  const finishedAt = new Date().toISOString();
  await agent.finish(await begin(), { result: 'applied', finishedAt, outputs: text('1'), ...elsewhere });
  assert.equal(await deployNothing(id, elsewhere), null);
  assert.equal(await isSkipped(id), true);
  await deploy(id);
  const error = { message: 'no such zone' };
  await agent.finish(await begin(), { result: 'failed', finishedAt, error, ...elsewhere });
  assert.ok(await deployNothing(id, elsewhere));
});
