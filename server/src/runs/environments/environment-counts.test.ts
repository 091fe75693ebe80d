/** The totals of lists, which are kept rather than counted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { startTests } from '../../../testing/start.ts';
import { inTransaction } from '../../ground/database/transaction.ts';

const { app, call, ok, add, createIdle } = await startTests();
const { pool } = app.database;
const { id: second } = await add('Project', 'Second');

async function total(query: Record<string, string> = {}): Promise<number> {
  const response = await call('listEnvironments', { query: { limit: '1', ...query } });
  return Number(response.headers['x-total-count']);
}

/** Of the organization, of both projects, of what is active, archived, and active in the first project. */
async function totals(): Promise<number[]> {
  const { organizationId, projectId } = app;
  return [
    await total({ organizationId }),
    await total({ projectId }),
    await total({ projectId: second }),
    await total({ isActive: 'true' }),
    await total({ isActive: 'false' }),
    await total({ projectId, isActive: 'true' }),
  ];
}

/** The same, counted. */
async function counted(): Promise<number[]> {
  const { rows } = await pool.query<Record<string, number>>(
    `select count(*) as all, count(*) filter (where project_id = $1) as first,
      count(*) filter (where project_id = $2) as second, count(*) filter (where not is_archived) as active,
      count(*) filter (where is_archived) as archived,
      count(*) filter (where project_id = $1 and not is_archived) as first_active
    from environment where workflow_environment_id is null`,
    [app.projectId, second],
  );
  return Object.values(rows[0] ?? {});
}

test('the total is right after environments were created, archived, restored, moved and deleted', async () => {
  assert.deepEqual(await totals(), [0, 0, 0, 0, 0, 0]);
  const first = await createIdle({ name: 'first' });
  assert.deepEqual(await totals(), [1, 1, 0, 1, 0, 1]);
  const other = await createIdle({ name: 'other', projectId: second });
  assert.deepEqual(await totals(), [2, 1, 1, 2, 0, 1]);
  const setArchived = (isArchived: boolean) =>
    ok('updateEnvironment', { id: first.id, body: { isArchived } });
  await setArchived(true);
  assert.deepEqual(await totals(), [2, 1, 1, 1, 1, 0]);
  await ok('updateEnvironment', { id: other.id, body: { name: 'renamed' } });
  await setArchived(false);
  assert.deepEqual(await totals(), [2, 1, 1, 2, 0, 1]);
  await ok('moveEnvironment', { id: other.id, body: { projectId: app.projectId } });
  assert.deepEqual(await totals(), [2, 2, 0, 2, 0, 2]);
  await ok('deleteEnvironment', { id: other.id });
  assert.deepEqual(await totals(), [1, 1, 0, 1, 0, 1]);
});

test('the total counts only organizations that the caller may see', async () => {
  const { id: organizationId } = await ok('createOrganization', { body: { name: 'Other' } });
  const [project] = await ok('listProjects', { query: { organizationId } });
  await createIdle({ organizationId, projectId: project?.id ?? '' });
  const colleague = await app.addKey({ [app.organizationId]: 'Admin' });
  const of = async (as?: typeof colleague) =>
    (await call('listEnvironments', as ? { as } : {})).headers['x-total-count'];
  assert.deepEqual([await of(), await of(colleague)], ['2', '1']);
  await pool.query('update environment set is_archived = true where organization_id = $1', [organizationId]);
  assert.equal(await total({ organizationId, isActive: 'true' }), 0);
  assert.deepEqual(await totals(), [1, ...(await counted()).slice(1)]);
});

test('the total is right when many are created, moved and archived at once', async () => {
  const created = await Promise.all(Array.from({ length: 24 }, () => createIdle({})));
  const moves = created.map(({ id }, index) =>
    index % 3 === 0
      ? ok('updateEnvironment', { id, body: { isArchived: true } })
      : ok('moveEnvironment', { id, body: { projectId: second } }),
  );
  await Promise.all(moves);
  const back = created
    .slice(12)
    .map(({ id }, index) =>
      index % 2 === 0
        ? ok('moveEnvironment', { id, body: { projectId: app.projectId } })
        : ok('deleteEnvironment', { id }),
    );
  await Promise.all(back);
  const expected = await counted();
  assert.deepEqual((await totals()).slice(1), expected.slice(1));
  assert.ok((expected[2] ?? 0) > 0);
});

test('what a transaction took back is not counted, and two that cross each other both succeed', async () => {
  const before = await totals();
  const moveAll = (from: string, to: string) =>
    inTransaction({ db: app.database.db }, async ({ db }) => {
      await sql`update environment set project_id = ${to} where project_id = ${from}`.execute(db);
      await sql`set constraints all immediate`.execute(db);
    });
  await assert.rejects(
    inTransaction({ db: app.database.db }, async ({ db }) => {
      await sql`update environment set project_id = ${second}`.execute(db);
      await sql`set constraints all immediate`.execute(db);
      throw new Error('changed my mind');
    }),
    /changed my mind/,
  );
  assert.deepEqual(await totals(), before);
  await Promise.all([moveAll(app.projectId, second), moveAll(second, app.projectId)]);
  assert.deepEqual((await totals()).slice(1), (await counted()).slice(1));
});

test('environments of workflows are counted only with them', async () => {
  const [root, child] = [await createIdle({}), await createIdle({})];
  const before = [await total(), await total({ includeSubEnvironments: 'true' })];
  await pool.query('update environment set workflow_environment_id = $1 where id = $2', [root.id, child.id]);
  const after = [await total(), await total({ includeSubEnvironments: 'true' })];
  assert.deepEqual(after, [(before[0] ?? 0) - 1, before[1]]);
});

test('pages read the kept total; other filters count what they match', async () => {
  await createIdle({ projectId: second });
  await pool.query('update environment_count set environments = 1000 where project_id = $1', [second]);
  assert.ok((await total({ projectId: second, isActive: 'true' })) >= 1000);
  assert.equal(await total({ projectId: second, name: 'no such name' }), 0);
  assert.equal(await total({ projectId: second, isRemoteBackend: 'true' }), 0);
  assert.ok((await total({ projectId: second, isRemoteBackend: 'false' })) < 1000);
  assert.ok((await total({ projectId: second, offset: '5000' })) >= 1000, 'also past the last page');
});
