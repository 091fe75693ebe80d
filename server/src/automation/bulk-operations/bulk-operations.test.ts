import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import type { OperationName } from '#contract/operations.ts';
import type { Reply } from '../../../testing/client.ts';
import { fieldOf } from '../../../testing/fields.ts';
import { startAgentTests } from '../../../testing/start.ts';

const tests = await startAgentTests();
const { app, agent, organizationId, projectId, call, ok, refused, sql, add, keyFor, createActive } = tests;
const { createEnvironment, createIdle, deploy, deploymentOf, environmentOf, forgetWork } = tests;

beforeEach(() => forgetWork());

type BulkName = Extract<OperationName, `bulk${string}`>;

const bulk = (name: BulkName, environmentIds: readonly string[], data?: object, more: object = {}) =>
  ok(name, { body: { environmentIds, organizationId, ...(data ? { data } : {}) }, ...more });

const resultsOf = ({ data }: Reply<'getBulkOperation'>) => data.map(({ status, error }) => error ?? status);
const deploymentsOf = async (id: string) =>
  (await ok('listDeployments', { id }))
    .filter(({ status }) => status !== 'NEVER_DEPLOYED')
    .map(({ type, status, comment }) => [type, status, comment].filter(Boolean).join(' '));

test('environments are deployed together, and each that is refused is named with the reason', async () => {
  const one = await createIdle({ name: 'one' });
  const locked = await createIdle({ name: 'locked' });
  await ok('setEnvironmentLock', { id: locked.id, body: { isLocked: true, reason: 'audit' } });
  const two = await createIdle({ name: 'two' });
  const made = await bulk('bulkDeploy', [two.id, locked.id, one.id, two.id.toUpperCase()], {
    comment: 'release',
    userRequiresApproval: true,
  });
  assert.deepEqual(
    made.data.map(({ environmentName, status }) => `${environmentName} ${status}`),
    ['two success', 'locked failed', 'one success'],
  );
  assert.match(made.data[1]?.error ?? '', /"locked" is locked.*audit/);
  assert.ok(made.finishedAt);
  for (const [index, { id }] of [two, locked, one].entries()) {
    const { deploymentId } = made.data[index] ?? {};
    assert.deepEqual(await deploymentsOf(id), id === locked.id ? [] : ['deploy IN_PROGRESS release']);
    if (deploymentId) assert.equal((await deploymentOf(deploymentId)).environmentId, id);
  }
  assert.deepEqual(await ok('getBulkOperation', { id: made.id }), made);
  const entries = await ok('listAuditEvents', { query: { organizationId } });
  const started = entries.events.find(({ actionName }) => actionName === 'bulkOperation.started');
  assert.deepEqual(started?.payload, { operation: 'deploy', environmentIds: [two.id, locked.id, one.id] });
});

test('one request checks several environments for drift', async () => {
  const active = await createActive();
  const idle = await createIdle({ name: 'idle' });
  const made = await bulk('bulkDeploy', [active.id, idle.id], { deploymentType: 'driftDetection' });
  assert.equal(made.data[0]?.status, 'success');
  assert.equal(made.data[1]?.status, 'failed');
  assert.match((await deploymentsOf(active.id))[0] ?? '', /^driftDetection/);
});

test('plans of several environments are approved or cancelled', async () => {
  const waiting = async () => {
    const { id } = await createEnvironment({ requiresApproval: true });
    await agent.plan();
    return id;
  };
  const [approved, cancelled] = [await waiting(), await waiting()];
  const { id: idle, name } = await createIdle({ name: 'idle' });
  const none = `Environment "${name}" has no deployment that waits for approval`;
  assert.deepEqual(resultsOf(await bulk('bulkApprove', [approved, idle])), ['success', none]);
  assert.deepEqual(resultsOf(await bulk('bulkCancel', [idle, cancelled])), [none, 'success']);
  assert.deepEqual(await deploymentsOf(approved), ['deploy IN_PROGRESS']);
  assert.deepEqual(await deploymentsOf(cancelled), ['deploy CANCELLED']);
});

test('locks, queues, tasks, destroys and archives of several environments', async () => {
  const active = await createActive();
  const idle = await createIdle();
  const ids = [active.id, idle.id];
  const succeeded = ['success', 'success'];
  assert.deepEqual(resultsOf(await bulk('bulkLock', ids, { reason: 'freeze' })), succeeded);
  const { lockStatus, isLocked } = await environmentOf(idle.id);
  assert.deepEqual([isLocked, lockStatus?.reason], [true, 'freeze']);
  assert.deepEqual(resultsOf(await bulk('bulkUnlock', ids)), succeeded);
  assert.equal((await environmentOf(active.id)).isLocked, false);
  const task = await bulk('bulkRunTask', ids, { taskPayload: 'echo "$SECRET"', comment: 'check' });
  assert.equal(task.data[0]?.status, 'success');
  assert.match(task.data[1]?.error ?? '', /is NEVER_DEPLOYED/);
  await deploy(active.id);
  assert.deepEqual(resultsOf(await bulk('bulkCancelQueued', ids)), succeeded);
  assert.deepEqual((await deploymentsOf(active.id)).slice(0, 2), [
    'deploy CANCELLED',
    'task IN_PROGRESS check',
  ]);
  const destroyed = await bulk('bulkDestroy', ids, { comment: 'clean up', skipStateRefresh: true });
  assert.deepEqual(fieldOf(destroyed.data, 'status'), ['success', 'failed']);
  const { deploymentId = '' } = destroyed.data[0] ?? {};
  const rows = await sql(
    'select status, comment, skip_state_refresh as skips from deployment where id = $1',
    deploymentId,
  );
  assert.deepEqual(rows, [{ status: 'QUEUED', comment: 'clean up', skips: true }]);
  const archived = await bulk('bulkArchive', ids);
  assert.equal(archived.data[1]?.status, 'success');
  assert.match(archived.data[0]?.error ?? '', /IN_PROGRESS/);
  assert.equal((await environmentOf(idle.id)).isArchived, true);
});

test('each environment needs the right of the single operation', async () => {
  const mine = await createIdle();
  const other = await createIdle();
  const as = await keyFor(['VIEW_ENVIRONMENT', 'RUN_PLAN'], { environmentId: mine.id });
  const made = await bulk('bulkDeploy', [mine.id, other.id], undefined, { as });
  assert.deepEqual(resultsOf(made), ['success', 'This needs the right RUN_PLAN']);
  const plan = await bulk('bulkDeploy', [mine.id], { userRequiresApproval: false }, { as });
  assert.match(plan.data[0]?.error ?? '', /needs the right RUN_APPLY/);
  const body = { environmentIds: [mine.id], organizationId };
  await refused('bulkLock', 403, /MANAGE_ENVIRONMENT_LOCK/, { body, as });
  // Others see what they may view of it.
  const all = await bulk('bulkUnlock', [mine.id, other.id]);
  const seen = await ok('getBulkOperation', { id: all.id, as });
  assert.deepEqual(fieldOf(seen.data, 'environmentId'), [mine.id]);
});

test('limits of a project apply to each environment in turn', async () => {
  const { id } = await add('Project', 'small');
  await ok('updatePolicy', { body: { projectId: id, numberOfEnvironmentsTotal: 1 } });
  const as = await keyFor(['VIEW_ENVIRONMENT', 'RUN_PLAN'], { projectId: id });
  const environments = [await createIdle({ projectId: id }), await createIdle({ projectId: id })];
  const made = await bulk(
    'bulkDeploy',
    environments.map((each) => each.id),
    undefined,
    { as },
  );
  assert.equal(made.data[0]?.status, 'success');
  assert.match(made.data[1]?.error ?? '', /numberOfEnvironmentsTotal|limit/i);
});

test('ids that are unknown or foreign are refused by place, before anything happens', async () => {
  const { id } = await createIdle();
  const outsider = await app.addKey();
  const { id: elsewhere } = await ok('createOrganization', { body: { name: 'Elsewhere' }, as: outsider });
  const [project] = await ok('listProjects', { query: { organizationId: elsewhere }, as: outsider });
  const foreign = await createIdleIn(elsewhere, project?.id ?? '');
  async function createIdleIn(organizationId: string, projectId: string) {
    const body = {
      name: 'foreign',
      organizationId,
      projectId,
      repository: 'https://git.example.com/network.git',
      type: 'terraform',
      preventAutoDeploy: true,
    };
    return (await ok('createEnvironmentWithoutTemplate', { body, as: outsider })).id;
  }
  for (const unknown of [randomUUID(), 'no-uuid', foreign]) {
    const body = { environmentIds: [id, unknown], organizationId };
    const { message } = await refused('bulkDeploy', 400, { body });
    assert.equal(
      message,
      '/body/environmentIds/1 does not match any environment that you have access to',
      unknown,
    );
  }
  const body = { environmentIds: [], organizationId };
  await refused('bulkDeploy', 400, /environmentIds/, { body });
  const task = { environmentIds: [id], organizationId, data: { taskPayload: ' ' } };
  await refused('bulkRunTask', 400, /data\/taskPayload is required/, { body: task });
  assert.deepEqual(await deploymentsOf(id), []);
});

test('what a request has left is carried out once, with the rights that its author has then', async () => {
  const ids = [await createIdle(), await createIdle()].map(({ id }) => id);
  const as = await keyFor(['VIEW_ENVIRONMENT', 'RUN_PLAN'], { projectId });
  // As if the server were killed after it accepted the request: under a key, the effect carries out everything.
  const headers = { 'idempotency-key': randomUUID() };
  const input = { body: { environmentIds: ids, organizationId, data: { comment: 'later' } }, headers, as };
  const accepted = await ok('bulkDeploy', input);
  assert.deepEqual([resultsOf(accepted), accepted.finishedAt], [['pending', 'pending'], undefined]);
  assert.deepEqual(await ok('bulkDeploy', input), accepted);
  await sql('delete from role_assignment where user_id = $1 and project_id is not null', as.id);
  await sql(
    `insert into role_assignment (id, organization_id, user_id, environment_id, role, role_id, created_by)
     select gen_random_uuid(), organization_id, $1, $2, id::text, id, 'test' from role
     where 'RUN_PLAN' = any(permissions) limit 1`,
    as.id,
    ids[1],
  );
  await Promise.all([app.carryOutEffects(), app.carryOutEffects()]);
  const done = await ok('getBulkOperation', { id: accepted.id, as });
  assert.deepEqual(resultsOf(done), ['This needs the right RUN_PLAN', 'success']);
  assert.ok(done.finishedAt);
  await app.carryOutEffects();
  assert.deepEqual(await deploymentsOf(ids[0] ?? ''), []);
  assert.deepEqual(await deploymentsOf(ids[1] ?? ''), ['deploy IN_PROGRESS later']);
  const [deployment] = await ok('listDeployments', { id: ids[1] ?? '' });
  assert.equal(deployment?.startedBy, as.id);
});

test('what a request says about its items is sealed, and removed at the end', async () => {
  const { id } = await createIdle();
  const headers = { 'idempotency-key': randomUUID() };
  const body = { environmentIds: [id], organizationId, data: { taskPayload: 'echo hunter2' } };
  const made = await ok('bulkRunTask', { body, headers });
  const stored = async () => {
    const rows = await sql<{ text: string; sealed_data: Buffer | null }>(
      'select o::text as text, sealed_data from bulk_operation o where id = $1',
      made.id,
    );
    return rows[0];
  };
  assert.ok(Buffer.isBuffer((await stored())?.sealed_data));
  assert.doesNotMatch((await stored())?.sealed_data?.toString('latin1') ?? '', /hunter2/);
  await app.carryOutEffects();
  assert.equal((await stored())?.sealed_data, null);
});

test('finished operations are removed after a month', async () => {
  const { forgetBulkOperations } = await import('./forget-bulk-operations.ts');
  const { id } = await createIdle();
  const made = await bulk('bulkUnlock', [id]);
  await forgetBulkOperations(app.context);
  await ok('getBulkOperation', { id: made.id });
  app.advance(31 * 86_400);
  await forgetBulkOperations(app.context);
  assert.equal((await call('getBulkOperation', { id: made.id })).statusCode, 404);
});
