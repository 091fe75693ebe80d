import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import { fieldOf } from '../../../testing/fields.ts';
import { startAgentTests } from '../../../testing/start.ts';

const tests = await startAgentTests();
const { app, agent, organizationId, send, call, ok, refused, sql } = tests;
const { add, keyFor, createActive, createIdle, deploy, forgetWork } = tests;
beforeEach(() => forgetWork());

const projectNamed = async (name: string) => (await add('Project', name)).id;
const names = async (query: Record<string, string>) =>
  (await ok('listEnvironments', { query })).map(({ name }) => name).toSorted();

test('environments are listed that have one of several tags, however clients send lists', async () => {
  covers('listEnvironments', 'query.tags');
  const projectId = await projectNamed('Tags');
  for (const [name, tags] of Object.entries({
    one: ['red', 'cold'],
    two: ['blue'],
    three: ['green'],
    none: [],
  }))
    await createIdle({ name, tags, projectId });
  assert.deepEqual(await names({ projectId, tags: 'red' }), ['one']);
  assert.deepEqual(await names({ projectId, tags: 'red,blue' }), ['one', 'two']);
  assert.deepEqual(await names({ projectId, tags: 're' }), []);
  for (const query of ['tags=red&tags=blue', 'tags[]=red&tags[]=blue', 'tags%5B%5D=red,blue']) {
    const { statusCode, body, headers } = await send({
      method: 'GET',
      url: `/api/environments?projectId=${projectId}&${query}`,
    });
    assert.equal(statusCode, 200, body);
    assert.deepEqual(fieldOf(JSON.parse(body) as { name: string }[], 'name').toSorted(), ['one', 'two']);
    assert.equal(headers['x-envarium-warning'], undefined);
  }
  const status = 'status=CREATED&status=NEVER_DEPLOYED';
  const several = await send({ method: 'GET', url: `/api/environments?projectId=${projectId}&${status}` });
  assert.equal((several.json() as unknown[]).length, 4);
  await refused('listEnvironments', 400, { query: { tags: '' } });
});

test('environments are listed that were destroyed and not deployed since, or only others', async () => {
  covers('listEnvironments', 'query.isDestroyed');
  const projectId = await projectNamed('Destroyed');
  await createIdle({ name: 'idle', projectId });
  const { id } = await createActive({ name: 'used', projectId });
  assert.deepEqual(await names({ projectId, isDestroyed: 'true' }), []);
  await ok('updateEnvironment', { id, body: { requiresApproval: false } });
  await ok('destroyEnvironment', { id });
  assert.deepEqual(await names({ projectId, isDestroyed: 'true' }), []);
  await agent.run([]);
  assert.deepEqual(await names({ projectId, isDestroyed: 'true' }), ['used']);
  assert.deepEqual(await names({ projectId, isDestroyed: 'false' }), ['idle']);
  const again = await deploy(id);
  assert.deepEqual(await names({ projectId, isDestroyed: 'true' }), ['used'], `${again.id} has not finished`);
});

test('environments are listed whose latest deployment one of several users started', async () => {
  covers('listEnvironments', 'query.deployerUserIds');
  const projectId = await projectNamed('Deployers');
  const other = await app.addKey({ [organizationId]: 'Admin' });
  const mine = await createIdle({ name: 'mine', projectId });
  const theirs = await createIdle({ name: 'theirs', projectId });
  await createIdle({ name: 'neither', projectId });
  await deploy(mine.id);
  await ok('deployEnvironment', { id: theirs.id, as: other });
  const by = (...ids: string[]) => names({ projectId, deployerUserIds: ids.join(',') });
  assert.deepEqual(await by(other.id), ['theirs']);
  assert.deepEqual(await by(app.admin.id), ['mine']);
  assert.deepEqual(await by(other.id, app.admin.id), ['mine', 'theirs']);
  // Former members of the organization have deployed nevertheless.
  await sql('delete from organization_member where user_id = $1', other.id);
  assert.deepEqual(await by(other.id), ['theirs']);
  const foreign = await app.addKey();
  for (const id of ['nobody', foreign.id]) {
    const { message } = await refused('listEnvironments', 400, { query: { deployerUserIds: id } });
    assert.equal(message, '/query/deployerUserIds does not match any user that you have access to');
  }
});

test('an environment is read in parts', async () => {
  const { id } = await createIdle({ name: 'parted' });
  const query = { fields: 'id,name,latestDeploymentLog.status' };
  const reply = await call('getEnvironment', { id, query });
  assert.deepEqual(reply.json(), { id, name: 'parted', latestDeploymentLog: { status: 'NEVER_DEPLOYED' } });
});

test('projects are listed that are archived, or only others', async () => {
  const [kept, archived] = [await projectNamed('kept'), await projectNamed('archived')];
  await ok('deleteProject', { id: archived });
  const idsOf = async (query: Record<string, string>) =>
    new Set((await ok('listProjects', { query: { organizationId, ...query } })).map(({ id }) => id));
  const found = async (query: Record<string, string>) => {
    const ids = await idsOf(query);
    return [ids.has(kept), ids.has(archived)];
  };
  assert.deepEqual(await found({}), [true, true]);
  assert.deepEqual(await found({ isArchived: 'true' }), [false, true]);
  assert.deepEqual(await found({ isArchived: 'false' }), [true, false]);
});

test('a destroy says whether its plan waits, with the right to switch approvals off', async () => {
  const projectId = await projectNamed('Approvals');
  const asRole = (role: string) => keyFor(role, { projectId });
  const [planner, deployer, admin] = [
    await asRole('Planner'),
    await asRole('Deployer'),
    await asRole('Admin'),
  ];
  const destroy = async (requiresApproval: string, as = app.admin, isForbidden = false) => {
    await ok('updatePolicy', { body: { projectId, selfApprovalForbidden: false } });
    const { id } = await createActive({ projectId });
    await ok('updateEnvironment', { id, body: { requiresApproval: true } });
    await ok('updatePolicy', { body: { projectId, selfApprovalForbidden: isForbidden } });
    const reply = await call('destroyEnvironment', { id, query: { requiresApproval }, as });
    return { id, reply, message: (reply.json() as { message?: string }).message };
  };
  const waits = await destroy('true', deployer);
  assert.equal(await agent.plan(), null, 'the apply waits');
  assert.equal((await ok('getEnvironment', { id: waits.id })).status, 'WAITING_FOR_USER');
  const { id, reply } = await destroy('false', deployer);
  assert.equal(reply.statusCode, 200, reply.body);
  await agent.run([]);
  const destroyed = await ok('getEnvironment', { id });
  assert.deepEqual([destroyed.status, destroyed.requiresApproval], ['INACTIVE', false]);
  const ofPlanner = await destroy('false', planner);
  assert.deepEqual(
    [ofPlanner.reply.statusCode, ofPlanner.message],
    [403, '/query/requiresApproval false needs the right RUN_APPLY'],
  );
  const demanded = await destroy('false', deployer, true);
  assert.deepEqual(
    [demanded.reply.statusCode, demanded.message],
    [403, '/query/requiresApproval false needs the right EDIT_PROJECT_SETTINGS'],
  );
  assert.equal((await destroy('false', admin, true)).reply.statusCode, 200);
  assert.ok(await agent.plan(), 'the apply follows at once');
});
