import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UnrecordedResource } from '#contract/deployments/plan.ts';
import { plannedOutcome, stateFile } from '../../../../testing/agent.ts';
import { startAgentTests } from '../../../../testing/start.ts';

const tests = await startAgentTests();
const { agent, ok, refused, sql, createBody, createEnvironment, deploy, deploymentOf } = tests;

const created = (address: string, id?: string): UnrecordedResource => ({
  address,
  ...(id === undefined ? {} : { id }),
  certainty: 'created',
});
const importing = { importUnrecorded: true } as const;

/** The next apply is killed and leaves these resources. */
async function killNext(unrecorded: UnrecordedResource[]): Promise<void> {
  const job = (await agent.plan()) ?? assert.fail('no apply');
  await agent.mark(job);
  const finishedAt = new Date().toISOString();
  await agent.finish(job, { result: 'failed', finishedAt, failedCommand: 'tf:apply', unrecorded });
}

async function killedEnvironment(unrecorded: UnrecordedResource[]) {
  const environment = await createEnvironment({ requiresApproval: false });
  await killNext(unrecorded);
  return environment;
}

function refusal(id: string, status: 400 | 409, body: object = {}) {
  return refused('deployEnvironment', status, { id, body: { ...importing, ...body } });
}

test('a deployment imports what any run after the last success created and could not record', async () => {
  const { id } = await killedEnvironment([
    created('a.one', 'old'),
    created('a.two', '2'),
    created('a.without'),
    { address: 'a.maybe', id: '3', certainty: 'may exist' },
  ]);
  await deploy(id);
  await killNext([created('a.one', 'new')]);
  const { id: deploymentId } = await deploy(id, { ...importing, userRequiresApproval: true });
  const plan = await agent.claim();
  assert.deepEqual(plan.imports, [
    { address: 'a.one', id: 'new' },
    { address: 'a.two', id: '2' },
  ]);
  await agent.finish(plan, plannedOutcome());
  await ok('approveDeployment', { id: deploymentId });
  const apply = await agent.claim();
  assert.deepEqual([apply.phase, apply.imports], ['apply', plan.imports]);
  await agent.apply(apply);
  assert.equal((await deploymentOf(deploymentId)).status, 'SUCCESS');
  assert.match((await refusal(id, 409)).message, /no deployment since its last successful one/);
  const rows = await sql<{ details: { imports?: unknown } }>(
    "select details from audit_event where action = 'deployment.started' and entity_id = $1",
    deploymentId,
  );
  assert.deepEqual(rows[0]?.details.imports, plan.imports);
});

test('a deployment without the request imports nothing', async () => {
  const { id } = await killedEnvironment([created('a.one', '1')]);
  await deploy(id);
  const plan = await agent.claim();
  assert.equal(plan.imports, undefined);
  await agent.apply((await agent.finish(plan, plannedOutcome())) ?? assert.fail('no apply'));
});

test('an import is refused where nothing can be imported, with the reason', async () => {
  const { id } = await killedEnvironment([
    { address: 'a.maybe', certainty: 'may exist' },
    created('a.without'),
  ]);
  assert.match((await refusal(id, 409)).message, /may exist, or have no id; check them/);
  const task = { deploymentType: 'task', taskPayload: 'true' };
  for (const body of [task, { deploymentType: 'driftDetection' }, { deploymentType: 'prPlan' }])
    assert.match(
      (await refusal(id, 400, body)).message,
      /importUnrecorded applies only to deploymentType deploy and dryRun, and this is a/,
    );
  const other = await createEnvironment({ requiresApproval: false });
  await agent.run(['a']);
  assert.match((await refusal(other.id, 409)).message, /nothing to import/);
  const first = createBody({ deployRequest: importing });
  assert.match(
    (await refused('createEnvironmentWithoutTemplate', 400, { body: first })).message,
    /importUnrecorded does not apply to the first deployment/,
  );
});

test('a success of some resources only does not end what can be imported', async () => {
  const { id } = await killedEnvironment([created('a.one', '1')]);
  await deploy(id, { targets: ['a.two'] });
  const targeted = (await agent.plan()) ?? assert.fail('no apply');
  await agent.putState(targeted, stateFile(1, ['a'], targeted.environmentId), '');
  await agent.apply(targeted, ['a', 'b']);
  await deploy(id, { ...importing, deploymentType: 'dryRun' });
  const plan = await agent.claim();
  assert.deepEqual(plan.imports, [{ address: 'a.one', id: '1' }]);
  await agent.finish(plan, plannedOutcome());
});
