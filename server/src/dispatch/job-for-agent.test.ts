import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plannedOutcome, testAgent } from '../testing/agent.ts';
import { testApp } from '../testing/app.ts';
import { createEnvironment, deploy } from '../testing/environment.ts';

const failed = { result: 'failed', finishedAt: new Date().toISOString() } as const;

test('plans are marked as the first of a generated workspace until something was applied in it', async () => {
  const app = await testApp();
  const agent = await testAgent(app);
  const { id } = await createEnvironment(app, { requiresApproval: false });
  const first = await agent.claim();
  assert.equal(first.isWorkspaceNew, true);
  await agent.finish(first, failed);
  await deploy(app, id);
  const again = await agent.claim();
  assert.equal(again.isWorkspaceNew, true, 'a failed plan applies nothing');
  const apply = await agent.finish(again, plannedOutcome());
  assert.ok(apply, 'the apply follows at once');
  assert.equal(apply.isWorkspaceNew, undefined);
  await agent.apply(apply);
  await deploy(app, id);
  assert.equal((await agent.claim()).isWorkspaceNew, undefined);
});

test('plans in a workspace whose name was specified are not marked', async () => {
  const app = await testApp();
  const agent = await testAgent(app);
  await createEnvironment(app, { workspaceName: 'production' });
  assert.equal((await agent.claim()).isWorkspaceNew, undefined);
});

test('a plan says whether its apply follows without an approval', async () => {
  const app = await testApp();
  const agent = await testAgent(app);
  await createEnvironment(app, { requiresApproval: false });
  const plan = await agent.claim();
  assert.equal(plan.isApprovalSkipped, true);
  const apply = await agent.finish(plan, plannedOutcome());
  assert.ok(apply, 'the apply follows at once');
  assert.equal(apply.isApprovalSkipped, undefined);
  await createEnvironment(app, { requiresApproval: true });
  assert.equal((await agent.claim()).isApprovalSkipped, undefined);
});
