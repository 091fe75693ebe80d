/** Lists of environments by what has become of them, and in other orders. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import { environmentSortKeys } from '#contract/environments/list-query.ts';
import { plannedOutcome } from '../../../testing/agent.ts';
import { startAgentTests } from '../../../testing/start.ts';

const tests = await startAgentTests();
const { app, agent, call, ok, refused, sql } = tests;
const { createActive, createEnvironment, createIdle, deploy, environmentOf } = tests;
const ids = new Map<string, string>();
const idOf = (name: string) => ids.get(name) ?? '';
const names = async (query: Record<string, string> = {}) =>
  (await ok('listEnvironments', { query })).map(({ name }) => name);
const sorted = async (query: Record<string, string>) => (await names(query)).toSorted();
const hours = (value: number) => ({ type: 'HOURS', value: String(value) });

before(async () => {
  await createActive({ name: 'delta' });
  await createEnvironment({ name: 'Charlie', requiresApproval: true });
  await agent.plan();
  await createEnvironment({ name: 'bravo', ttl: hours(48) });
  await agent.finish(
    await agent.claim(),
    plannedOutcome({ result: 'failed', error: { message: 'no such module' } }),
  );
  await createIdle({ name: 'Alpha', type: 'opentofu', ttl: hours(2) });
  for (const { id, name } of await ok('listEnvironments')) ids.set(name, id);
});

test('environments are sorted by name whatever its case, by age, by what ends first and by status', async () => {
  covers('listEnvironments', 'query.sort');
  const byAge = ['delta', 'Charlie', 'bravo', 'Alpha'];
  assert.deepEqual(await names(), byAge.toReversed());
  assert.deepEqual(await names({ sort: 'createdAt' }), byAge);
  assert.deepEqual(await names({ sort: 'name' }), ['Alpha', 'bravo', 'Charlie', 'delta']);
  assert.deepEqual((await names({ sort: 'lifespanEndAt' })).slice(0, 2), ['Alpha', 'bravo']);
  assert.deepEqual((await names({ sort: '-lifespanEndAt' })).slice(2), ['bravo', 'Alpha']);
  assert.deepEqual(await names({ sort: 'status' }), ['delta', 'bravo', 'Alpha', 'Charlie']);
  app.advance(60);
  await ok('updateEnvironment', { id: idOf('bravo'), body: { description: 'x' } });
  await ok('setEnvironmentLock', { id: idOf('bravo'), body: { isLocked: true } });
  assert.equal((await names({ sort: '-updatedAt' }))[0], 'bravo');
});

test('in each order, descending is the reverse of ascending, and pages add up to the list', async () => {
  covers('listEnvironments', 'query.limit', 'query.offset');
  for (const key of environmentSortKeys) {
    const all = await names({ sort: key });
    assert.deepEqual(await names({ sort: `-${key}` }), all.toReversed(), key);
    for (const sort of [key, `-${key}`] as const) {
      const pages = [];
      for (let offset = 0; offset < 4; offset++)
        pages.push(...(await names({ sort, limit: '1', offset: String(offset) })));
      assert.deepEqual(pages, await names({ sort }), sort);
    }
  }
});

test('environments are filtered by status, and the total counts what the filter matches', async () => {
  covers('listEnvironments', 'query.status');
  assert.deepEqual(await names({ status: 'FAILED' }), ['bravo']);
  const response = await call('listEnvironments', {
    query: { status: 'ACTIVE,WAITING_FOR_USER', limit: '1' },
  });
  assert.equal(response.headers['x-total-count'], '2');
  assert.deepEqual(await names({ status: 'ACTIVE,WAITING_FOR_USER', sort: 'name' }), ['Charlie', 'delta']);
  assert.deepEqual(await names({ status: 'ABORTED' }), []);
});

test('the filter of drift statuses agrees with the status that is shown', async () => {
  covers('listEnvironments', 'query.driftStatus');
  await ok('updateDriftSchedule', { id: idOf('delta'), body: { enabled: true, cron: '0 4 * * *' } });
  assert.equal((await environmentOf(idOf('delta'))).driftStatus, 'NEVER_RUN');
  assert.deepEqual(await names({ driftStatus: 'NEVER_RUN' }), ['delta']);
  assert.deepEqual(await sorted({ driftStatus: 'DISABLED' }), ['Alpha', 'Charlie', 'bravo']);
  await sql("update environment set drift_status = 'DRIFTED' where id = $1", idOf('Charlie'));
  assert.deepEqual(await names({ driftStatus: 'DRIFTED,ERROR' }), ['Charlie']);
});

test('environments are filtered by type of template, and by what expires before a time', async () => {
  covers('listEnvironments', 'query.templateType', 'query.expiresBefore');
  assert.deepEqual(await names({ templateType: 'opentofu' }), ['Alpha']);
  assert.deepEqual(await sorted({ templateType: 'opentofu,terraform' }), [
    'Alpha',
    'Charlie',
    'bravo',
    'delta',
  ]);
  const inHours = (count: number) => new Date(app.context.now().getTime() + count * 3_600_000).toISOString();
  assert.deepEqual(await names({ expiresBefore: inHours(1) }), []);
  assert.deepEqual(await names({ expiresBefore: inHours(3) }), ['Alpha']);
  assert.deepEqual(await names({ expiresBefore: inHours(72), sort: 'lifespanEndAt' }), ['Alpha', 'bravo']);
});

test('environments are found by their template', async () => {
  covers('listEnvironments', 'query.blueprintId');
  const { blueprintId } = (await environmentOf(idOf('bravo'))).latestDeploymentLog;
  assert.deepEqual(await names({ blueprintId }), ['bravo']);
  for (const unknown of [randomUUID(), 'x'])
    await refused('listEnvironments', 400, { query: { blueprintId: unknown } });
});

test('what failed since a time is found by the end of the latest deployment', async () => {
  covers('listEnvironments', 'query.finishedAfter');
  const { latestDeploymentLog } = await environmentOf(idOf('bravo'));
  const end = new Date(latestDeploymentLog.finishedAt ?? '').getTime();
  const after = (milliseconds: number) => new Date(end + milliseconds).toISOString();
  assert.deepEqual(await names({ status: 'FAILED', finishedAfter: after(-1) }), ['bravo']);
  assert.deepEqual(await names({ status: 'FAILED', finishedAfter: after(0) }), []);
});

test('a row shows the name of its project and how many deployments are queued, which change at once', async () => {
  covers('Environment', 'projectName', 'queueLength');
  const row = async () => (await ok('listEnvironments', { query: { name: 'Charlie' } }))[0];
  const { name } = await ok('getProject', { id: app.projectId });
  assert.deepEqual([(await row())?.projectName, (await row())?.queueLength], [name, 0]);
  const queued = await deploy(idOf('Charlie'));
  await deploy(idOf('Charlie'));
  assert.equal((await row())?.queueLength, 2);
  assert.equal((await environmentOf(idOf('Charlie'))).queueLength, 2);
  await ok('cancelDeployment', { id: queued.id });
  assert.equal((await row())?.queueLength, 1);
  assert.equal((await ok('listEnvironments', { query: { name: 'delta' } }))[0]?.queueLength, 0);
  await ok('updateProject', { id: app.projectId, body: { name: 'Renamed' } });
  for (const each of await ok('listEnvironments')) assert.equal(each.projectName, 'Renamed', each.name);
});

test('times that programs do not read are refused, and those with any time zone are not', async () => {
  for (const time of ['2016-12-31T23:59:60Z', '2026-01-01T00:00:00+05', '2026-02-30T00:00:00Z'])
    for (const field of ['expiresBefore', 'finishedAfter']) {
      const { message } = await refused('listEnvironments', 400, { query: { [field]: time } });
      assert.match(message, new RegExp(`^/query/${field} must match format "date-time"`));
    }
  for (const time of ['0000-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z', '2026-01-01T00:00:00.5-05:30'])
    await ok('listEnvironments', { query: { expiresBefore: time, finishedAfter: time } });
});

test('what the lists do not know is refused, and the reason names the parameter', async () => {
  for (const [field, value] of [
    ['sort', 'size'],
    ['sort', '--name'],
    ['status', 'BROKEN'],
    ['status', 'ACTIVE,'],
    ['driftStatus', 'drifted'],
    ['templateType', 'cobol'],
    ['expiresBefore', 'tomorrow'],
    ['finishedAfter', '1'],
  ] as const) {
    const { message } = await refused('listEnvironments', 400, { query: { [field]: value } });
    assert.match(message, new RegExp(`/query/${field}`), value);
  }
});
