/** Template whose policies decide where a deployment does not run that of its environment. */
import assert from 'node:assert/strict';
import { says, startPolicyTests } from '../../../../testing/guarded.ts';

const tests = await startPolicyTests();
const { app, agent, test, ok } = tests;
const { deploy, deploymentOf, createTemplate, createFrom, newPolicy, assign, plan, planned, checked } = tests;

/** A template that a policy guards, one without policies, and an environment of one of them. */
async function setUp(rules: string, which: 'guarded' | 'free') {
  const [guarded, free] = [await createTemplate(), await createTemplate()];
  await assign((await newPolicy(rules)).id, 'BLUEPRINT', guarded.id);
  const first = which === 'guarded' ? guarded : free;
  const { id } = await createFrom(first.id, { preventAutoDeploy: true });
  return { id, guarded, free };
}

const end = async (id: string) => {
  await app.carryOutEffects();
  const { status, error } = await deploymentOf(id);
  return [status, error?.message];
};

test('a destroy is judged by the policies of the template that it destroys', async () => {
  const rules = `package envarium
allow contains "a deploy" if input.deploymentRequest.type == "deploy"
deny contains "stays" if input.deploymentRequest.type == "destroy"`;
  const { id, free } = await setUp(rules, 'guarded');
  assert.equal((await checked(id)).deployment.status, 'IN_PROGRESS');
  await agent.apply(await agent.claim());
  await deploy(id, { blueprintId: free.id });
  const other = await agent.claim();
  assert.equal(other.isPolicyInputWanted, undefined);
  const finishedAt = new Date().toISOString();
  await agent.finish(other, { result: 'failed', finishedAt, error: { message: 'does not parse' } });
  const atOnce = await ok('destroyEnvironment', { id });
  await plan();
  const [status, message] = await end(atOnce.id);
  assert.equal(status, 'CANCELLED');
  assert.match(message ?? '', /denies the plan: stays/);
  const ahead = await planned(id, { userRequiresApproval: true });
  const queued = await ok('destroyEnvironment', { id });
  assert.equal(queued.status, 'QUEUED');
  await ok('cancelDeployment', { id: ahead.id });
  await plan();
  assert.match((await end(queued.id))[1] ?? '', /denies the plan: stays/);
});

test('a deploy that changes the template is judged by the policies of the new one', async () => {
  const { id, guarded } = await setUp(says('deny', 'not this one'), 'free');
  const { deployment } = await checked(id, { blueprintId: guarded.id });
  assert.equal(deployment.status, 'CANCELLED');
  assert.match(deployment.error?.message ?? '', /not this one/);
});
