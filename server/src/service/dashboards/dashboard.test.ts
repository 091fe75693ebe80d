import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plannedOutcome } from '../../../testing/agent.ts';
import type { Reply } from '../../../testing/client.ts';
import { fieldOf } from '../../../testing/fields.ts';
import { startAgentTests } from '../../../testing/start.ts';

const tests = await startAgentTests();
const { app, agent, organizationId, projectId, ok, refused, createActive, createIdle, deploy } = tests;

const query = (queryName: string, as = app.admin): Promise<Reply<'getDashboard'>> =>
  ok('getDashboard', { query: { organizationId, queryName }, as });

const active = await createActive({ name: 'active' });
await createIdle({ name: 'idle' });
const archived = await createIdle({ name: 'archived' });
await ok('updateEnvironment', { id: archived.id, body: { isArchived: true } });
for (const deploymentType of ['prPlan', 'dryRun']) {
  await deploy(active.id, { deploymentType });
  await agent.finish(
    await agent.claim(),
    deploymentType === 'prPlan'
      ? plannedOutcome()
      : { result: 'failed', finishedAt: new Date().toISOString(), error: { message: 'no' } },
  );
}
const today = new Date().toISOString().slice(0, 10);

test('deployments that finished are counted by day, type, user and result', async () => {
  const days = await query('deploymentsOverTime');
  assert.equal(days.length, 30);
  assert.deepEqual(days.at(-1), { date: today, count: 3 });
  assert.deepEqual(fieldOf((days as { count: number }[]).slice(0, 29), 'count').filter(Boolean), []);
  const types = { deployCount: 1, destroyCount: 0, prPlanCount: 1, moduleTestCount: 0 };
  assert.deepEqual((await query('deploymentsByTypeOverTime')).at(-1), { date: today, ...types });
  const byType = (await query('deploymentsByType')) as { deploymentType: string; count: number }[];
  assert.deepEqual(byType.map(({ deploymentType, count }) => `${deploymentType} ${count}`).toSorted(), [
    'deploy 1',
    'dryRun 1',
    'prPlan 1',
  ]);
  const [user, ...others] = (await query('deploymentsByUser')) as { totalDeployments: number }[];
  assert.deepEqual([user?.totalDeployments, others.length], [3, 0]);
  assert.deepEqual(await query('totalDeployments'), [{ value: 3 }]);
  assert.deepEqual(await query('failedDeployments'), [{ value: 1 }]);
});

test('environments are counted and listed without archived ones', async () => {
  assert.deepEqual(await query('totalEnvironments'), [{ value: 2 }]);
  assert.deepEqual(await query('activeEnvironments'), [{ value: 1 }]);
  const statuses = (await query('environmentsByStatus')) as { status: string; count: number }[];
  assert.equal(statuses.length, 6);
  assert.equal(
    statuses.reduce((total, { count }) => total + count, 0),
    2,
  );
  const recent = (await query('recentEnvironments')) as {
    name: string;
    projectId: string;
    projectName: string;
  }[];
  assert.deepEqual(recent.map(({ name }) => name).toSorted(), ['active', 'idle']);
  assert.equal(recent[0]?.projectId, projectId);
  assert.notEqual(recent[0]?.projectName, '');
});

test('figures have only what the caller may view, and need their right', async () => {
  const viewer = await app.addKey({ [organizationId]: ['VIEW_DASHBOARD'] });
  assert.deepEqual(await query('totalEnvironments', viewer), [{ value: 0 }]);
  assert.deepEqual(await query('totalDeployments', viewer), [{ value: 0 }]);
  assert.deepEqual(await query('recentEnvironments', viewer), []);
  const other = await app.addKey({ [organizationId]: ['VIEW_ENVIRONMENT'] });
  const input = { query: { organizationId, queryName: 'totalDeployments' } };
  await refused('getDashboard', 403, /VIEW_DASHBOARD/, { ...input, as: other });
  const invalid = { query: { organizationId, queryName: 'everything' } };
  await refused('getDashboard', 400, /query\/queryName/, invalid);
});
