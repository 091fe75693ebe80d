import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testAgent } from '../testing/agent.ts';
import { testApp } from '../testing/app.ts';
import { ok } from '../testing/client.ts';
import { createActive, createEnvironment, createIdle, deploy } from '../testing/environment.ts';

const app = await testApp();
const agent = await testAgent(app);

/** A deployment with outputs, one that waits for approval, a queued one, a locked environment and schedules. */
async function fill(): Promise<void> {
  await createActive(app, agent, { name: 'active' });
  const approved = await createEnvironment(app, { name: 'approved', requiresApproval: true });
  await agent.plan();
  await ok(app, 'approveDeployment', { params: { id: approved.latestDeploymentLogId ?? '' } });
  await agent.apply(await agent.claim(), ['a', 'b'], {
    outputs: {
      endpoint: { value: 'x "y" é', sensitive: false, type: 'string' },
      key: { value: 'planted-output', sensitive: true, type: 'string' },
    },
  });
  const waiting = await createEnvironment(app, { name: 'waiting', requiresApproval: true });
  await agent.plan();
  await deploy(app, waiting.id);
  const locked = await createIdle(app, { name: 'locked', tags: ['a', 'b'] });
  await ok(app, 'setEnvironmentLock', {
    params: { id: locked.id },
    body: { isLocked: true, reason: 'maintenance' },
  });
  await ok(app, 'updateEnvironmentSchedule', {
    params: { id: locked.id },
    body: { destroy: { cron: '0 3 * * *', enabled: true } },
  });
}

test('lists show environments and deployments as they are shown alone', async () => {
  await fill();
  const environments = await ok(app, 'listEnvironments');
  assert.equal(environments.length, 4);
  for (const each of environments) {
    const { id } = each;
    assert.deepEqual(each, await ok(app, 'getEnvironment', { params: { id } }), each.name);
    const deployments = await ok(app, 'listDeployments', { params: { id } });
    for (const deployment of deployments)
      assert.deepEqual(deployment, await ok(app, 'getDeployment', { params: { id: deployment.id ?? '' } }));
  }
  const approved = environments.find(({ name }) => name === 'approved')?.latestDeploymentLog;
  assert.deepEqual(approved?.output, {
    endpoint: { value: 'x "y" é', sensitive: false, type: 'string' },
    key: { value: '********', sensitive: true, type: 'string' },
  });
  assert.deepEqual(
    approved.reviewers?.map(({ userId, action }) => [userId, action]),
    [[app.admin.id, 'approved']],
  );
  assert.ok(approved.agentId);
});

test('a page takes four statements: who calls, the page with its number, deployments, and users', async () => {
  await createActive(app, agent, { name: 'another' });
  let count = 0;
  const counting = () => void count++;
  app.database.pool.on('acquire', counting);
  await ok(app, 'listEnvironments', { query: { organizationId: app.organizationId, name: 'another' } });
  app.database.pool.off('acquire', counting);
  assert.equal(count, 4);
});
