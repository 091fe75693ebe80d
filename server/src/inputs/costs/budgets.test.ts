import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { startTests } from '../../../testing/start.ts';

const { app, organizationId, projectId, call, ok, refused, sql, add } = await startTests();
const params = { projectId };
const good = { amount: 200, timeframe: 'MONTHLY', thresholds: [50, 80, 100] };

const newProject = async (name: string, more: object = {}) => (await add('Project', name, more)).id;

test('a budget is stored, returned as it was sent, replaced under the same id, and deleted', async () => {
  await refused('getBudget', 404, { params });
  const made = await ok('setBudget', { params, body: good });
  assert.deepEqual(made, { id: made.id, projectId, ...good });
  assert.deepEqual(await ok('getBudget', { params }), made);
  const other = { amount: 0.5, timeframe: 'YEARLY', thresholds: [120, 5] };
  assert.deepEqual(await ok('setBudget', { params, body: other }), { id: made.id, projectId, ...other });
  const empty = { ...other, thresholds: [] };
  assert.deepEqual((await ok('setBudget', { params, body: empty })).thresholds, []);
  assert.deepEqual(await ok('deleteBudget', { params }), { id: made.id });
  for (const name of ['getBudget', 'deleteBudget'] as const)
    await refused(name, 404, `The project with id "${projectId}" has no budget`, { params });
});

test('whole amounts are written without a fraction', async () => {
  const { body } = await call('setBudget', { params, body: good });
  assert.match(body, /"amount":200,/);
  assert.match(body, /"thresholds":\[50,80,100\]/);
});

test('a budget says that it has no effect yet', async () => {
  const { headers } = await call('setBudget', { params, body: good });
  assert.equal(
    headers['x-envarium-warning'],
    'amount is stored but has no effect yet: costs are not measured, so no threshold is ever reached.',
  );
});

test('a body that is not a budget is refused by the name of its field', async () => {
  for (const [change, message] of [
    [{ amount: 0 }, /^\/body\/amount must be > 0/],
    [{ amount: -1 }, /^\/body\/amount must be > 0/],
    [{ amount: 1e13 }, /^\/body\/amount must be <= 1000000000000/],
    [{ amount: '200' }, /^\/body\/amount must be number/],
    [{ amount: undefined }, /amount/],
    [{ timeframe: 'DAILY' }, /^\/body\/timeframe must be one of WEEKLY, MONTHLY, QUARTERLY, YEARLY/],
    [{ timeframe: undefined }, /timeframe/],
    [{ thresholds: undefined }, /thresholds/],
    [{ thresholds: 50 }, /^\/body\/thresholds must be array/],
    [{ thresholds: [0] }, /^\/body\/thresholds\/0 must be >= 1/],
    [{ thresholds: [50, 1001] }, /^\/body\/thresholds\/1 must be <= 1000/],
    [{ thresholds: [12.5] }, /^\/body\/thresholds\/0 must be integer/],
    [{ thresholds: ['50'] }, /^\/body\/thresholds\/0 must be integer/],
    [{ thresholds: [80, 50, 80] }, /^\/body\/thresholds must NOT have duplicate items/],
    [
      { thresholds: Array.from({ length: 21 }, (_, index) => index + 1) },
      /^\/body\/thresholds must NOT have more than 20/,
    ],
    [{ currency: 'EUR' }, /currency/],
  ] as const) {
    await refused('setBudget', 400, message, { params, body: { ...good, ...change } });
  }
  assert.deepEqual((await ok('getBudget', { params })).thresholds, good.thresholds);
});

test('of simultaneous requests, each sets the budget, and there is one', async () => {
  const id = await newProject('raced');
  const replies = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      ok('setBudget', { params: { projectId: id }, body: { ...good, amount: index + 1 } }),
    ),
  );
  assert.equal(new Set(replies.map((reply) => reply.id)).size, 1);
});

test('a budget is read with VIEW_PROJECT and changed with EDIT_PROJECT_SETTINGS', async () => {
  await ok('setBudget', { params, body: good });
  const viewer = await app.addKey({ [organizationId]: ['VIEW_PROJECT'] });
  await ok('getBudget', { params, as: viewer });
  for (const [name, more] of [
    ['setBudget', { body: good }],
    ['deleteBudget', {}],
  ] as const) {
    await refused(name, 403, /EDIT_PROJECT_SETTINGS/, { params, ...more, as: viewer });
  }
  const unknown = { projectId: randomUUID() };
  await refused('setBudget', 404, { params: unknown, body: good });
});

test('the audit trail has each change of a budget', async () => {
  const id = await newProject('audited');
  const about = { params: { projectId: id } };
  await ok('setBudget', { ...about, body: good });
  await ok('setBudget', { ...about, body: { ...good, amount: 300 } });
  await ok('deleteBudget', about);
  const rows = await sql(
    "select action, before, after from audit_event where project_id = $1 and entity = 'budget' order by at, id",
    id,
  );
  assert.deepEqual(rows, [
    { action: 'budget.set', before: null, after: good },
    { action: 'budget.set', before: { amount: 200 }, after: { amount: 300 } },
    { action: 'budget.deleted', before: { ...good, amount: 300 }, after: null },
  ]);
});
