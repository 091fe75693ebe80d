import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import { plannedOutcome } from '../../../../testing/agent.ts';
import { fieldOf } from '../../../../testing/fields.ts';
import { startAgentTests } from '../../../../testing/start.ts';

const tests = await startAgentTests();
const { app, agent, organizationId, call, ok, refused, sql, createActive, deploy, forgetWork } = tests;
const environment = await createActive();

beforeEach(() => forgetWork());

const change = (type: string, name: string, action: string, more: object = {}) => ({
  path: `${type}.${name}`,
  type,
  name,
  providerName: 'provider',
  action,
  attributes: [],
  ...more,
});

/** A plan that was made. @returns its id */
async function planned(resourceChanges: object[]): Promise<string> {
  const { id } = await deploy(environment.id, { deploymentType: 'dryRun' });
  const plan = { resourceChanges, outputChanges: [] };
  await agent.finish(await agent.claim(), plannedOutcome({ plan: plan as never }));
  return id;
}

const impactOf = (ids: string, as = app.admin) => ok('getPlanImpact', { query: { deploymentIds: ids }, as });

test('plans are counted by action, and what they destroy is listed', async () => {
  const lost = Array.from({ length: 60 }, (_, index) => change('bucket', `b${index}`, 'delete'));
  const mixed = await planned([
    change('vm', 'new', 'create'),
    change('vm', 'changed', 'update'),
    change('disk', 'replaced', 'recreate'),
    change('vm', 'moved', 'metadata'),
    ...lost,
  ]);
  const empty = await planned([]);
  const all = await impactOf(`${mixed},${empty}, ${mixed}`);
  assert.deepEqual(Object.keys(all).toSorted(), [mixed, empty].toSorted());
  const { destructive = [], ...counts } = all[mixed] ?? { planReadable: false };
  assert.deepEqual(counts, {
    planReadable: true,
    create: 1,
    update: 1,
    delete: 60,
    recreate: 1,
    metadata: 1,
    destructiveTotal: 61,
    destructiveTypeCounts: { bucket: 60, disk: 1 },
  });
  assert.equal(destructive.length, 50);
  assert.deepEqual(destructive.slice(0, 2), [
    { address: 'disk.replaced', type: 'disk', name: 'replaced', action: 'recreate' },
    { address: 'bucket.b0', type: 'bucket', name: 'b0', action: 'delete' },
  ]);
  assert.deepEqual(all[empty], {
    planReadable: true,
    create: 0,
    update: 0,
    delete: 0,
    recreate: 0,
    metadata: 0,
    destructive: [],
    destructiveTotal: 0,
    destructiveTypeCounts: {},
  });
});

test('what is deferred counts in no number, and what a summary replaces is not destroyed twice', async () => {
  const deferred = ['d1', 'd2'].map((name) => change('bucket', name, 'delete', { kind: 'defer' }));
  const id = await planned([
    change('vm', 'new', 'create', { kind: 'create' }),
    change('disk', 'replaced', 'recreate', { kind: 'replace' }),
    ...deferred,
  ]);
  const { destructive, ...counts } = (await impactOf(id))[id] ?? { planReadable: false };
  const numbers = { create: 1, update: 0, delete: 0, recreate: 1, destructiveTotal: 1 };
  assert.deepEqual(counts, {
    ...{ planReadable: true, ...numbers, metadata: 0, destructiveTypeCounts: { disk: 1 } },
  });
  assert.deepEqual(fieldOf(destructive, 'address'), ['disk.replaced']);
  const summary = { added: 2, changed: 0, destroyed: 1, replaced: 1, deferred: 2 };
  await sql(
    'update deployment set plan = null, plan_summary = $2 where id = $1',
    id,
    JSON.stringify(summary),
  );
  assert.deepEqual((await impactOf(id))[id], { planReadable: true, ...numbers });
});

test('without a plan, its summary counts, or nothing is readable', async () => {
  const summarized = await planned([change('vm', 'new', 'create')]);
  await sql('update deployment set plan = null where id = $1', summarized);
  const other = await createActive();
  const { id: running } = await deploy(other.id, { deploymentType: 'dryRun' });
  assert.deepEqual(await impactOf(`${summarized},${running}`), {
    [summarized]: { planReadable: true, create: 1, update: 0, delete: 0, recreate: 0, destructiveTotal: 0 },
    [running]: { planReadable: false },
  });
});

test('plans that are unknown or that the caller may not view are refused, and lists have limits', async () => {
  const plan = await planned([]);
  const member = await app.addKey({ [organizationId]: 'User' });
  const hidden = await refused('getPlanImpact', 403, { query: { deploymentIds: plan }, as: member });
  assert.match(hidden.message, /query\/deploymentIds needs the right VIEW_ENVIRONMENT/);
  for (const id of [randomUUID(), 'x']) {
    const { message } = await refused('getPlanImpact', 400, { query: { ids: `${plan},${id}` } });
    assert.match(message, /query\/ids does not match any deployment/);
  }
  const tooMany = Array.from({ length: 201 }, () => randomUUID()).join(',');
  for (const deploymentIds of ['', ' , ', tooMany]) {
    await refused('getPlanImpact', 400, /query\/deploymentIds/, { query: { deploymentIds } });
  }
  assert.deepEqual(Object.keys(await ok('getPlanImpact', { query: { ids: plan } })), [plan]);
});

test('a plan is a document in the form of terraform, whose numbers keep every digit', async () => {
  const attributes = [{ name: 'size', before: 1, after: 2 }];
  const plan = await planned([change('vm', 'changed', 'update', { attributes })]);
  await sql(
    `update deployment set plan = jsonb_set(plan, '{resourceChanges,0,attributes,0,after}', '9223372036854775807')
     where id = $1`,
    plan,
  );
  const response = await call('getPlanJson', { id: plan });
  assert.equal(response.statusCode, 200);
  assert.match(response.body, /"after":\{"size":9223372036854775807\}/);
  const { resource_changes: changes } = response.json() as { resource_changes: object[] };
  assert.equal((changes[0] as { address: string }).address, 'vm.changed');
  const { url } = (await ok('getPlanJson', { id: plan, query: { redirect: 'false' } })) as {
    url: string;
  };
  assert.equal(url, `/api/environments/deployments/${plan}/plan-json`);
});

test('a deployment without a plan has no document', async () => {
  const other = await createActive();
  const { id } = await deploy(other.id, { deploymentType: 'dryRun' });
  await refused('getPlanJson', 404, /No plan is stored/, { id });
});
