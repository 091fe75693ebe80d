import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldsOf } from '../../../testing/fields.ts';
import { startAgentTests } from '../../../testing/start.ts';

const { app, agent, ok, createActive, createEnvironment, createIdle, deploy } = await startAgentTests();

/** A deployment with outputs, one that waits for approval, a queued one, a locked environment and schedules. */
async function fill(): Promise<void> {
  await createActive({ name: 'active' });
  const approved = await createEnvironment({ name: 'approved', requiresApproval: true });
  await agent.plan();
  await ok('approveDeployment', { id: approved.latestDeploymentLogId ?? '' });
  await agent.apply(await agent.claim(), ['a', 'b'], {
    outputs: {
      endpoint: { value: 'x "y" é', sensitive: false, type: 'string' },
      key: { value: 'planted-output', sensitive: true, type: 'string' },
    },
  });
  const waiting = await createEnvironment({ name: 'waiting', requiresApproval: true });
  await agent.plan();
  await deploy(waiting.id);
  const locked = await createIdle({ name: 'locked', tags: ['a', 'b'] });
  await ok('setEnvironmentLock', { id: locked.id, body: { isLocked: true, reason: 'maintenance' } });
  await ok('updateEnvironmentSchedule', {
    id: locked.id,
    body: { destroy: { cron: '0 3 * * *', enabled: true } },
  });
}

test('lists show environments and deployments as they are shown alone', async () => {
  await fill();
  const environments = await ok('listEnvironments');
  assert.equal(environments.length, 4);
  for (const each of environments) {
    const { id } = each;
    assert.deepEqual(each, await ok('getEnvironment', { id }), each.name);
    const deployments = await ok('listDeployments', { id });
    for (const deployment of deployments)
      assert.deepEqual(deployment, await ok('getDeployment', { id: deployment.id ?? '' }));
  }
  const approved = environments.find(({ name }) => name === 'approved')?.latestDeploymentLog;
  assert.deepEqual(approved?.output, {
    endpoint: { value: 'x "y" é', sensitive: false, type: 'string' },
    key: { value: '********', sensitive: true, type: 'string' },
  });
  assert.deepEqual(fieldsOf(approved.reviewers, 'userId', 'action'), [[app.admin.id, 'approved']]);
  assert.ok(approved.agentId);
});

/** Callers are identified on a connection outside of the pool. */
async function statementsOf(query: Record<string, string>): Promise<number> {
  let count = 0;
  const counting = () => void count++;
  app.database.pool.on('acquire', counting);
  await ok('listEnvironments', { query: { organizationId: app.organizationId, ...query } });
  app.database.pool.off('acquire', counting);
  return count;
}

test('apart from the caller, a page takes two statements, and two more for environments that have changed', async () => {
  const { id } = await createActive({ name: 'another' });
  const query = { name: 'another' };
  // The page with its number, and users; environments and deployments where they have changed.
  assert.deepEqual([await statementsOf(query), await statementsOf(query)], [4, 2]);
  await ok('setEnvironmentLock', { id, body: { isLocked: true } });
  assert.deepEqual([await statementsOf(query), await statementsOf(query)], [4, 2]);
  const excluding = { ...query, excludeFields: 'latestDeploymentLog.plan' };
  assert.deepEqual([await statementsOf(excluding), await statementsOf(excluding)], [4, 2]);
  await ok('setEnvironmentLock', { id, body: { isLocked: false } });
  await ok('updateEnvironment', { id, body: { requiresApproval: true } });
  await deploy(id);
  await agent.plan();
  assert.ok((await statementsOf(query)) >= 4);
  assert.ok((await statementsOf(query)) >= 4, 'what an open deployment waits for is read each time');
});

test('a list shows every change at once', async () => {
  const { id } = await createActive({ name: 'changing' });
  const shown = async () => {
    const [listed] = await ok('listEnvironments', { query: { searchText: id } });
    assert.deepEqual(listed, await ok('getEnvironment', { id }));
    return listed;
  };
  const { pool } = app.database;
  const before = await shown();
  await ok('updateEnvironment', { id, body: { name: 'changed', tags: ['x'] } });
  assert.equal((await shown())?.name, 'changed');
  await ok('updateEnvironmentSchedule', { id, body: { deploy: { cron: '0 3 * * *', enabled: true } } });
  assert.ok((await shown())?.nextScheduledDates?.deploy);
  await pool.query("update schedule set next_run_at = '2030-01-01T00:00:00Z' where environment_id = $1", [
    id,
  ]);
  assert.equal((await shown())?.nextScheduledDates?.deploy, '2030-01-01T00:00:00.000Z');
  await pool.query('delete from schedule where environment_id = $1', [id]);
  assert.deepEqual((await shown())?.nextScheduledDates, {});
  await pool.query("update deployment set comment = 'why' where id = $1", [before?.latestDeploymentLogId]);
  assert.equal((await shown())?.latestDeploymentLog.comment, 'why');
  const rename = (name: string) =>
    pool.query('update app_user set name = $1, updated_at = clock_timestamp() where id = $2', [
      name,
      app.admin.id,
    ]);
  await rename('Grace');
  assert.equal((await shown())?.user?.name, 'Grace');
  await rename('Ada');
  assert.equal((await shown())?.latestDeploymentLog.startedByUser.name, 'Ada');
});
