import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { startAgentTests } from '../../../testing/start.ts';
import { actorWithoutRights } from '../../framework/access/actor.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { lockEnvironmentRow } from '../../rows/environments/environment-store.ts';
import { holdProjectRow } from '../../rows/projects/project-store.ts';
import { loadStartFacts } from '../../runs/deployments/inputs/start-facts.ts';
import { startDeployment } from '../../runs/deployments/start-deployment.ts';

const tests = await startAgentTests();
const { app, organizationId, call, ok, refused } = tests;
const { add, createActive, createBody, createIdle, deploy, environmentOf, forgetWork } = tests;
const create = (name: string, parentProjectId?: string) => add('Project', name, { parentProjectId });
const get = (id: string) => ok('getProject', { id });
const update = (id: string, body: object) => ok('updateProject', { id, body });
const move = (id: string, targetProjectId: string | null) =>
  call('moveProject', { id, body: { targetProjectId } });

test('only what is sent changes, and tags keep their order', async () => {
  const made = await create('changed');
  for (const change of [
    { name: 'renamed' },
    { description: 'd' },
    { tags: ['z', 'a', 'm'] },
    { description: '' },
  ]) {
    const { updatedAt: _, ...before } = await get(made.id);
    const { updatedAt: __, ...after } = await update(made.id, change);
    assert.deepEqual(after, { ...before, ...change });
  }
  assert.deepEqual((await update(made.id, { tags: null })).tags, []);
  await create('taken');
  await refused('updateProject', 409, /"taken"/, { id: made.id, body: { name: 'taken' } });
  await refused('updateProject', 400, { id: made.id, body: { name: ' ' } });
  await refused('updateProject', 400, { id: made.id, body: { parentProjectId: null } });
});

test('a project moves with everything below it, and paths are updated', async () => {
  const [one, two] = [await create('one'), await create('two')];
  const child = await create('child', one.id);
  const leaf = await create('leaf', child.id);
  const response = await move(child.id, two.id);
  assert.deepEqual([response.statusCode, response.json()], [200, null]);
  assert.deepEqual(
    [(await get(child.id)).parentProjectId, (await get(child.id)).hierarchy],
    [two.id, `${two.id}|${child.id}`],
  );
  assert.equal((await get(leaf.id)).hierarchy, [two.id, child.id, leaf.id].join('|'));
  assert.equal((await move(child.id, two.id)).statusCode, 200, 'moved twice is moved once');
  await move(child.id, null);
  assert.deepEqual(
    [(await get(child.id)).parentProjectId, (await get(leaf.id)).hierarchy],
    [undefined, `${child.id}|${leaf.id}`],
  );
});

test('an impossible place is refused by name', async () => {
  const root = await create('root');
  const below = await create('below', root.id);
  const deep = await create('deep', below.id);
  const archived = await create('old');
  await ok('deleteProject', { id: archived.id });
  const { id: elsewhere } = await ok('createOrganization', { body: { name: 'Elsewhere' } });
  const [foreign] = await ok('listProjects', { query: { organizationId: elsewhere } });
  const refusals: [unknown, RegExp][] = [
    [root.id, /"root", which is the project itself or is below it/],
    [deep.id, /"deep", which is the project itself or is below it/],
    [archived.id, /"old", which is archived/],
    [foreign?.id, /does not match a project of this organization/],
    [randomUUID(), /does not match a project of this organization/],
    ['no-uuid', /does not match a project of this organization/],
    [undefined, /\/body\/targetProjectId is required/],
  ];
  for (const [targetProjectId, message] of refusals)
    await refused('moveProject', 400, message, { id: root.id, body: { targetProjectId } });
  const twin = await create('below');
  await refused('moveProject', 409, /"below" already exists there/, {
    id: twin.id,
    body: { targetProjectId: root.id },
  });
  await refused('moveProject', 404, { id: randomUUID(), body: { targetProjectId: null } });
});

test('simultaneous moves never make a circle or a wrong path', async () => {
  const roots = await Promise.all(['a', 'b', 'c', 'd'].map((name) => create(`circle ${name}`)));
  for (let round = 0; round < 6; round++) {
    const moves = roots.map((each, index) =>
      move(each.id, (roots[(index + 1 + round) % roots.length] ?? each).id),
    );
    const made = [create(`child ${round}`, roots[round % 4]?.id), move(roots[0]?.id ?? '', null)];
    await Promise.all([...moves, ...made]);
  }
  const all = new Map(
    (await ok('listProjects', { query: { organizationId } })).map((each) => [each.id, each]),
  );
  for (const each of all.values()) {
    const path: string[] = [];
    for (let at: string | undefined = each.id; at; at = all.get(at)?.parentProjectId) {
      assert.ok(!path.includes(at), 'a circle');
      path.unshift(at);
    }
    assert.equal(each.hierarchy, path.join('|'));
  }
});

test('a deleted project is archived with all below it, accepts only destroys, and can be restored', async () => {
  const root = await create('closing');
  const below = await create('closing below', root.id);
  const active = await createActive({ projectId: below.id });
  const running = await deploy(active.id);
  const queued = await deploy(active.id);
  const destroy = await ok('destroyEnvironment', { id: active.id });
  assert.deepEqual(await ok('deleteProject', { id: root.id }), { id: root.id });
  assert.deepEqual([(await get(root.id)).isArchived, (await get(below.id)).isArchived], [true, true]);
  assert.deepEqual(
    await ok('deleteProject', { id: root.id }),
    { id: root.id },
    'deleted twice is deleted once',
  );
  const statuses = await ok('listDeployments', { id: active.id });
  const statusOf = (id: string) => statuses.find((each) => each.id === id)?.status;
  assert.deepEqual(
    [statusOf(running.id), statusOf(queued.id), statusOf(destroy.id)],
    ['IN_PROGRESS', 'CANCELLED', 'QUEUED'],
  );
  for (const body of [{}, { deploymentType: 'driftDetection' }, { deploymentType: 'dryRun' }])
    await refused('deployEnvironment', 409, /Project "closing below" is archived/, { id: active.id, body });
  await refused('createEnvironmentWithoutTemplate', 409, { body: createBody({ projectId: below.id }) });
  await refused('createProject', 409, { body: { organizationId, name: 'x', parentProjectId: root.id } });
  assert.equal((await environmentOf(active.id)).isArchived, false);
  assert.ok(
    (await ok('listProjects', { query: { organizationId } })).some(
      ({ id, isArchived }) => id === root.id && isArchived,
    ),
  );
  await refused('updateProject', 409, /parent project "closing" is archived/, {
    id: below.id,
    body: { isArchived: false },
  });
  assert.equal((await update(root.id, { isArchived: false })).isArchived, false);
  assert.equal((await update(below.id, { isArchived: false })).isArchived, false);
  assert.equal((await deploy(active.id)).status, 'QUEUED');
  await create('closing 2');
  await update(root.id, { isArchived: true });
  const twin = await create('closing');
  await refused('updateProject', 409, /"closing" already exists here/, {
    id: root.id,
    body: { isArchived: false },
  });
  await update(twin.id, { name: 'closing twin' });
  await update(root.id, { isArchived: false });
});

/** Until another connection waits for a lock, or a promise is settled. */
async function untilWaiting(other: Promise<unknown>): Promise<void> {
  const settled = other.then(
    () => true,
    () => true,
  );
  for (let isOver = false; !isOver; isOver = await Promise.race([settled, delay(20, false)])) {
    const { rowCount } = await app.database.pool.query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    if (rowCount) return;
  }
}

test('a deployment requested during the deletion of its project is cancelled with the rest', async () => {
  await forgetWork();
  const project = await create('raced');
  const { id } = await createActive({ projectId: project.id });
  await deploy(id);
  let deleting: Promise<unknown> = Promise.resolve();
  const queued = await inTransaction(app.context, async (context) => {
    const environment = await lockEnvironmentRow(context.db, id);
    const actor = actorWithoutRights(app.admin.id);
    const asAdmin = { ...app.context, actor, requestId: 'test', db: context.db };
    const facts = await loadStartFacts(asAdmin, environment!, 'deploy');
    const made = await startDeployment(asAdmin, facts, { type: 'deploy', trigger: 'user', targets: [] });
    deleting = ok('deleteProject', { id: project.id });
    await untilWaiting(deleting);
    return made;
  });
  await deleting;
  const statuses = await ok('listDeployments', { id });
  assert.equal(statuses.find((each) => each.id === queued.deployment.id)?.status, 'CANCELLED');
});

test('a request that holds an environment also gets its project while that is being deleted', async () => {
  for (const archive of [
    (id: string) => ok('deleteProject', { id }),
    (id: string) => update(id, { isArchived: true }),
  ]) {
    await forgetWork();
    const project = await create('held');
    const { id } = await createActive({ projectId: project.id });
    await deploy(id);
    await deploy(id);
    let archiving: Promise<unknown> = Promise.resolve();
    await inTransaction(app.context, async (context) => {
      await lockEnvironmentRow(context.db, id);
      archiving = archive(project.id);
      await untilWaiting(archiving);
      await sql`set local lock_timeout = 200`.execute(context.db);
      assert.equal((await holdProjectRow(context.db, project.id))?.is_archived, false);
    });
    await archiving;
    assert.equal((await get(project.id)).isArchived, true);
  }
});

test('a destroy requested before its project was deleted still runs', async () => {
  await forgetWork();
  const project = await create('destroyed');
  const environment = await createActive({ projectId: project.id });
  await ok('deleteProject', { id: project.id });
  const destroy = await ok('destroyEnvironment', { id: environment.id });
  assert.equal(destroy.status, 'IN_PROGRESS');
});

test('there is one module-testing project, hidden, which does not get in the way of others', async () => {
  const params = { organizationId };
  const [first, again] = await Promise.all([
    ok('getTestingProject', { params }),
    ok('getTestingProject', { params }),
  ]);
  assert.deepEqual(first, again);
  const { rows } = await app.database.pool.query(
    "select details from audit_event where action = 'project.created' and entity_id = $1",
    [first.id],
  );
  assert.deepEqual(rows, [{ details: { name: first.name } }]);
  assert.deepEqual(await get(first.id), first);
  assert.ok((await ok('listProjects', { query: { organizationId } })).every(({ id }) => id !== first.id));
  await create(first.name);
  await refused('createProject', 400, { body: { organizationId, name: 'below', parentProjectId: first.id } });
  await refused('deleteProject', 409, { id: first.id });
  assert.equal((await move(first.id, app.projectId)).statusCode, 409);
  const own = await createIdle();
  await refused('moveProject', 404, { id: own.id, body: { targetProjectId: null } });
});
