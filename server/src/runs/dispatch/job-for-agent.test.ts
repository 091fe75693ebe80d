import assert from 'node:assert/strict';
import { test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import { appliedOutcome, plannedOutcome, testAgent } from '../../../testing/agent.ts';
import { testApp } from '../../../testing/app.ts';
import { ok } from '../../../testing/client.ts';
import { createEnvironment, deploy } from '../../../testing/environment.ts';

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

test('a run gets what its tool reads of template and environment, in the folder of the environment', async () => {
  covers('createEnvironmentWithoutTemplate', 'body.isTerragruntRunAll', 'body.terragruntTfBinary');
  covers('createEnvironmentWithoutTemplate', 'body.terragruntVersion', 'body.fileName');
  const app = await testApp();
  const agent = await testAgent(app);
  await agent.register([], { tools: ['terraform', 'terragrunt', 'cloudformation'] });
  await createEnvironment(app, {
    type: 'terragrunt',
    path: '/infrastructure/',
    terragruntWorkingDirectory: '/live/eu',
    terragruntTfBinary: 'terraform',
    isTerragruntRunAll: true,
    terragruntVersion: '1.1.3',
    terraformVersion: '1.9.8',
  });
  const all = await agent.claim();
  assert.deepEqual(all.settings, {
    terragruntTfBinary: 'terraform',
    isTerragruntRunAll: true,
    terraformVersion: '1.9.8',
  });
  assert.equal(all.toolVersion, '1.1.3');
  assert.equal(all.source.path?.replaceAll(/^\/|\/$/g, ''), 'infrastructure/live/eu');
  await createEnvironment(app, { type: 'terragrunt', isTerragruntRunAll: false });
  const one = await agent.claim();
  assert.deepEqual([one.settings, one.source.path], [undefined, undefined], 'nothing is filled in');
  await createEnvironment(app, { type: 'cloudformation', path: 'stacks', fileName: 'queue.yaml' });
  const stack = await agent.claim();
  assert.deepEqual([stack.settings, stack.source.path], [{ fileName: 'queue.yaml' }, 'stacks']);
  await createEnvironment(app, { terragruntWorkingDirectory: 'live' });
  assert.equal((await agent.claim()).source.path, undefined, 'other tools have no working directory');
});

test('a deployment keeps the settings that it was requested with, and a destroy those of the last deploy', async () => {
  const app = await testApp();
  const agent = await testAgent(app);
  await agent.register([], { tools: ['terraform', 'terragrunt', 'cloudformation'] });
  const { organizationId, projectId } = app;
  const settings = {
    organizationId,
    name: 'units',
    repository: 'https://git.example.com/units.git',
  } as const;
  const body = {
    ...settings,
    type: 'terragrunt',
    terragruntVersion: '1.1.3',
    projectIds: [projectId],
  } as const;
  const template = await ok(app, 'createTemplate', { body: { ...body, isTerragruntRunAll: true } });
  const environment = await ok(app, 'createEnvironment', {
    body: {
      name: 'units',
      projectId,
      requiresApproval: true,
      deployRequest: { blueprintId: template.id },
    },
  });
  await agent.plan();
  await ok(app, 'updateTemplate', {
    id: template.id ?? '',
    body: { ...body, isTerragruntRunAll: false, terragruntTfBinary: 'terraform' },
  });
  await ok(app, 'approveDeployment', { id: environment.latestDeploymentLog.id ?? '' });
  const apply = await agent.claim();
  assert.deepEqual(apply.settings, { isTerragruntRunAll: true });
  await agent.mark(apply);
  await agent.finish(apply, appliedOutcome({ isStateOurs: false }));
  await ok(app, 'destroyEnvironment', { id: environment.id });
  assert.deepEqual((await agent.claim()).settings, { isTerragruntRunAll: true });
});
