/** Limits of a bulk operation: it must not decide about unread plans, or show and do what its author may not. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import { bulkVerbs } from '#contract/bulk-operations/operations.ts';
import { bulkKinds } from '#contract/bulk-operations/shapes.ts';
import { operations } from '#contract/operations.ts';
import { until } from '../../../../tools/suite/until.ts';
import type { Reply } from '../../../testing/client.ts';
import { startAgentTests } from '../../../testing/start.ts';
import { forgetBulkOperations } from './forget-bulk-operations.ts';

const tests = await startAgentTests();
const { app, agent, organizationId, ok, refused, sql } = tests;
const { keyFor, createEnvironment, createIdle, deploy, forgetWork } = tests;

beforeEach(() => forgetWork());

const resultsOf = ({ data }: Reply<'getBulkOperation'>) => data.map(({ status, error }) => error ?? status);
const bodyFor = (...environmentIds: string[]) => ({ environmentIds, organizationId });
/** Under a key, a request is only accepted: its effect carries out the items. */
const later = () => ({ headers: { 'idempotency-key': randomUUID() } });
const read = (id: string) => ok('getBulkOperation', { id });
const stateOf = async (id: string) => (await ok('getDeployment', { id })).status;

/** An environment whose plan waits for approval. */
async function waiting() {
  const { id, name } = await createEnvironment({ requiresApproval: true });
  await agent.plan();
  const [deployment] = await ok('listDeployments', { id });
  return { id, name, deploymentId: deployment?.id ?? '' };
}

/** The plan that waits is cancelled, and another one waits. */
async function planAgain({ id, deploymentId }: { id: string; deploymentId: string }): Promise<string> {
  await ok('cancelDeployment', { id: deploymentId, body: {} });
  const again = await deploy(id);
  await agent.plan();
  assert.equal(await stateOf(again.id), 'WAITING_FOR_USER');
  return again.id;
}

for (const [name, verb] of [
  ['bulkApprove', 'approved'],
  ['bulkCancel', 'cancelled'],
] as const)
  test(`a plan that did not wait when the request was accepted is not ${verb}`, async () => {
    const changed = await waiting();
    const unchanged = await waiting();
    const fresh = await createIdle({ name: 'fresh' });
    const body = bodyFor(changed.id, unchanged.id, fresh.id);
    const accepted = await ok(name, { body, ...later() });
    const next = await planAgain(changed);
    const first = await deploy(fresh.id, { userRequiresApproval: true });
    await agent.plan();
    assert.equal(await stateOf(first.id), 'WAITING_FOR_USER');
    await app.carryOutEffects();
    const other = (environment: string) =>
      `Environment "${environment}" has another plan that waits for approval than the one that this request means: read it, and decide about it in a new request`;
    assert.deepEqual(resultsOf(await read(accepted.id)), [other(changed.name), 'success', other('fresh')]);
    assert.equal(await stateOf(next), 'WAITING_FOR_USER');
    assert.equal(await stateOf(first.id), 'WAITING_FOR_USER');
    assert.notEqual(await stateOf(unchanged.deploymentId), 'WAITING_FOR_USER');
  });

test('the hash of the plan counts, too: the next plan of the same deployment is not approved', async () => {
  const { id, name, deploymentId } = await waiting();
  const accepted = await ok('bulkApprove', { body: bodyFor(id), ...later() });
  await sql('update deployment set plan_hash = $2 where id = $1', deploymentId, 'f'.repeat(64));
  await app.carryOutEffects();
  assert.match(resultsOf(await read(accepted.id))[0] ?? '', new RegExp(`"${name}" has another plan`));
  assert.equal(await stateOf(deploymentId), 'WAITING_FOR_USER');
});

test('a plan is approved only if its hash is the one that the request names', async () => {
  const same = await waiting();
  const other = await waiting();
  const planHash = (await ok('getDeployment', { id: same.deploymentId })).planHash ?? '';
  const planHashes = { [same.id.toUpperCase()]: planHash, [other.id]: 'f'.repeat(64) };
  const body = { ...bodyFor(same.id, other.id), data: { planHashes } };
  const made = await ok('bulkApprove', { body });
  assert.equal(resultsOf(made)[0], 'success');
  assert.match(resultsOf(made)[1] ?? '', new RegExp(`"${other.name}" has another plan`));
  assert.equal(await stateOf(other.deploymentId), 'WAITING_FOR_USER');
  await refused('bulkApprove', 400, /planHashes may only contain ids/, {
    body: { ...bodyFor(other.id), data: { planHashes } },
  });
});

test('environments that its author may not view are shown without their name', async () => {
  const mine = await createIdle();
  const secret = await createIdle({ name: 'merger with acme' });
  const as = await keyFor(['VIEW_ENVIRONMENT', 'RUN_PLAN'], { environmentId: mine.id });
  const made = await ok('bulkDeploy', { body: bodyFor(mine.id, secret.id), as });
  const shown = made.data.map(({ environmentId, environmentName }) => [environmentId, environmentName]);
  assert.deepEqual(shown, [
    [mine.id, mine.name],
    [secret.id, undefined],
  ]);
});

test('a task needs the right of its single operation: to run tasks', async () => {
  const [one, two] = [await createIdle(), await createIdle()];
  const data = { taskPayload: 'true' };
  const as = await app.addKey({ [organizationId]: 'User' }, [
    { organizationId, environmentId: one.id, role: ['VIEW_ENVIRONMENT', 'RUN_TASK'] },
    { organizationId, environmentId: two.id, role: ['VIEW_ENVIRONMENT', 'RUN_PLAN'] },
  ]);
  const deployment = { deploymentType: 'task', ...data } as const;
  const single = (id: string) => ({ id, body: deployment, as });
  await refused('deployEnvironment', 403, /RUN_TASK/, single(two.id));
  const body = { ...bodyFor(one.id, two.id), data };
  const [allowed, refusedItem] = (await ok('bulkRunTask', { body, as })).data;
  assert.match(
    allowed?.error ?? '',
    /NEVER_DEPLOYED/,
    'the right is enough, and there is nothing to run it on',
  );
  assert.match(refusedItem?.error ?? '', /needs the right RUN_TASK/);
});

test('each bulk operation declares the rights of its single operation, and no others', () => {
  for (const kind of bulkKinds) {
    const { single } = bulkVerbs[kind];
    const bulk = Object.values(operations).find(({ path }) => path === `/bulk-operations/${kind}`);
    const wanted = kind === 'run-task' ? single.needsInstead?.right : single.needs;
    assert.ok(wanted, kind);
    assert.equal(bulk?.needs, wanted, kind);
    const known = [wanted, ...(single.needsToo ?? []).map(({ right }) => right)];
    for (const { right } of bulk?.needsToo ?? []) assert.ok(known.includes(right), `${kind}: ${right}`);
    const aboutApprovals = ({ needsToo = [] }: Pick<typeof single, 'needsToo'>) =>
      needsToo.filter((each) => each.for.includes('userRequiresApproval')).map(({ right }) => right);
    if (kind === 'deploy') assert.deepEqual(aboutApprovals(bulk ?? {}), aboutApprovals(single));
    assert.ok(
      bulk?.needsToo?.some(({ right }) => right === wanted),
      kind,
    );
  }
});

test('an operation whose commands cannot be read any more fails, and is removed after a month', async () => {
  const { id } = await createIdle();
  const damaged = async () => {
    const { id: operationId } = await ok('bulkDeploy', { body: bodyFor(id), ...later() });
    const text = "update bulk_operation set sealed_data = '\\x00' where id = $1";
    await sql(text, operationId);
    return operationId;
  };
  const unreadable = await damaged();
  await app.carryOutEffects();
  const shown = await read(unreadable);
  assert.match(resultsOf(shown)[0] ?? '', /cannot be read any more.*send the request again/);
  assert.ok(shown.finishedAt);
  // One whose effect has given up for another reason stays pending, but is not kept.
  const pending = await damaged();
  await sql("delete from effect where kind = 'bulkOperations.continue'");
  assert.equal((await read(pending)).finishedAt, undefined);
  app.advance(31 * 86_400);
  await forgetBulkOperations(app.context);
  await refused('getBulkOperation', 404, { id: pending });
});

test('an item whose connection the database ends stays pending, and is carried out later', async () => {
  const { id } = await createIdle();
  const { id: operationId } = await ok('bulkDeploy', { body: bodyFor(id), ...later() });
  const { pool } = app.database;
  // The item waits for the row of its environment; its connection is ended during that time, as in a failover.
  const blocker = await pool.connect();
  await blocker.query('begin');
  await blocker.query('select from environment where id = $1 for update', [id]);
  const carrying = app.carryOutEffects();
  await until('the end of the connection that waits', async () => {
    const { rows } = await pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock' and pid <> pg_backend_pid()`,
    );
    return rows.length > 0;
  });
  await blocker.query('rollback');
  blocker.release();
  await carrying;
  assert.deepEqual(resultsOf(await read(operationId)), ['pending']);
  app.advance(60);
  await app.carryOutEffects();
  assert.deepEqual(resultsOf(await read(operationId)), ['success']);
});
