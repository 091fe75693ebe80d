import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startAgentTests } from '../../../testing/start.ts';

const tests = await startAgentTests();
const { app, organizationId, projectId, ok, refused, add, keyFor, createActive, createIdle } = tests;
const { id: second } = await add('Project', 'second');
const active = await createActive();
const idle = await createIdle();
const archived = await createIdle();
await ok('updateEnvironment', { id: archived.id, body: { isArchived: true } });
await createIdle({ projectId: second });
await ok('updateDriftSchedule', { id: active.id, body: { enabled: true, cron: '0 3 * * *' } });
const onlyIdle = await keyFor(['VIEW_ENVIRONMENT'], { environmentId: idle.id });

const count = (query: Record<string, string>, as = app.admin) =>
  ok('countEnvironments', { query: { projectId, ...query }, as });

test('environments of a project are counted as lists show them', async () => {
  assert.equal(await count({}), 3);
  assert.equal(await count({ isActive: 'true' }), 2);
  assert.equal(await count({ isActive: 'false' }), 1);
  assert.equal(await count({ status: 'ACTIVE' }), 1);
  assert.equal(await count({ status: 'ACTIVE,NEVER_DEPLOYED', isActive: 'true' }), 2);
  assert.equal(await count({ projectId: second }), 1);
  await refused('countEnvironments', 400, /projectId/, { query: {} });
  await refused('countEnvironments', 400, /query\/status/, { query: { projectId, status: 'ODD' } });
});

test('numbers have only what the caller may see', async () => {
  assert.equal(await count({}, onlyIdle), 1);
  assert.equal(await count({ projectId: second }, onlyIdle), 0);
  const counts = await ok('countEnvironmentStatuses', { query: { organizationId }, as: onlyIdle });
  assert.deepEqual(counts, { [projectId]: { NEVER_DEPLOYED: 1, driftStatus: { DISABLED: 1 }, total: 1 } });
});

test('statuses and drift statuses are counted by project, without archived environments', async () => {
  const counts = await ok('countEnvironmentStatuses', { query: { organizationId } });
  assert.deepEqual(counts, {
    [projectId]: {
      ACTIVE: 1,
      NEVER_DEPLOYED: 1,
      driftStatus: { NEVER_RUN: 1, DISABLED: 1 },
      total: 2,
    },
    [second]: { NEVER_DEPLOYED: 1, driftStatus: { DISABLED: 1 }, total: 1 },
  });
});

test('the active environments of an organization are counted, which has no limit of its own', async () => {
  const limits = await ok('getOrganizationLimits', { id: organizationId });
  assert.deepEqual(limits, { environments: { amount: 1, limitReached: false } });
});
