import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import pg from 'pg';
import { covers } from '#contract/documents/coverage.ts';
import { plannedOutcome } from '../../../testing/agent.ts';
import { fieldOf, fieldsOf } from '../../../testing/fields.ts';
import { startAgentTests } from '../../../testing/start.ts';

const tests = await startAgentTests();
const { app, agent, organizationId, projectId, ok, refused } = tests;
const { add, createBody, createEnvironment, createIdle, deploy, forgetWork } = tests;
beforeEach(() => forgetWork());

let counter = 0;

async function createSet(more: object = {}) {
  const body = { name: `set ${++counter}`, scope: 'organization', scopeId: organizationId, ...more };
  return ok('createConfigurationSet', { body });
}

async function assigned(scope: string, scopeId: string) {
  const sets = await ok('listSetAssignments', { params: { scope, scopeId } });
  return sets.filter((set) => set.assignmentScope === scope).map(({ id }) => id);
}

const createProject = (name: string, parentProjectId?: string) =>
  add('Project', name, parentProjectId ? { parentProjectId } : {});

test('requests that create or deploy an environment assign sets to it and take them away', async () => {
  covers('createEnvironmentWithoutTemplate', 'body.configurationSetChanges');
  covers('deployEnvironment', 'body.configurationSetChanges');
  covers('ConfigurationSetChanges', 'assign', 'unassign');
  const [a, b, c] = [await createSet(), await createSet(), await createSet()];
  const environment = await createIdle({
    configurationSetChanges: { assign: [b.id] },
    deployRequest: { configurationSetChanges: { assign: [a.id, b.id], unassign: null } },
  });
  assert.deepEqual(await assigned('environment', environment.id), [b.id, a.id]);
  await deploy(environment.id, { configurationSetChanges: { assign: [c.id, a.id], unassign: [b.id] } });
  assert.deepEqual(await assigned('environment', environment.id), [a.id, c.id]);
  const wrapped = { deployRequest: { configurationSetChanges: { unassign: [a.id] } } };
  await deploy(environment.id, wrapped);
  assert.deepEqual(await assigned('environment', environment.id), [c.id]);
  await deploy(environment.id, { configurationSetChanges: null });
  assert.deepEqual(await assigned('environment', environment.id), [c.id]);
});

test('set changes that cannot be made are refused by name, and nothing is deployed', async () => {
  const [own, inherited, other] = [await createSet(), await createSet(), await createSet()];
  const elsewhere = await createProject('elsewhere');
  const foreign = await createSet({ scope: 'project', scopeId: elsewhere.id });
  const environment = await createIdle({ configurationSetChanges: { assign: [own.id] } });
  await ok('assignConfigurationSets', {
    params: { scope: 'project', scopeId: projectId },
    query: { setIds: inherited.id },
  });
  const changes = 'body/configurationSetChanges';
  const refusals: [object, string][] = [
    [
      { assign: [foreign.id] },
      `^/${changes}/assign/0 is the configuration set "${foreign.name}" of a project`,
    ],
    [{ assign: [other.id, 'none'] }, `^/${changes}/assign/1 does not match any configuration set`],
    [
      { unassign: [own.id, inherited.id] },
      `^/${changes}/unassign/1 does not match .* to this environment itself`,
    ],
    [{ assign: [other.id], unassign: [other.id] }, `^/${changes}/unassign/0 is also in assign`],
  ];
  const deployments = async () => (await ok('listDeployments', { id: environment.id })).length;
  const before = await deployments();
  for (const [configurationSetChanges, message] of refusals) {
    const request = { id: environment.id, body: { configurationSetChanges } };
    await refused('deployEnvironment', 400, new RegExp(message), request);
  }
  const inside = { deployRequest: { configurationSetChanges: { assign: [foreign.id] } } };
  const wrapped = { id: environment.id, body: inside };
  const inner = /^\/body\/deployRequest\/configurationSetChanges\/assign\/0 is the configuration set/;
  await refused('deployEnvironment', 400, inner, wrapped);
  const body = createBody(inside);
  await refused('createEnvironmentWithoutTemplate', 400, inner, { body });
  assert.equal(await deployments(), before);
  assert.deepEqual(await assigned('environment', environment.id), [own.id]);
});

test('a deployment keeps which sets it was started with, also when they are unassigned and deleted', async () => {
  covers('ConfigurationSet', 'isDeleted');
  const [inProject, first, second] = [await createSet(), await createSet(), await createSet()];
  const project = await createProject('kept');
  await ok('assignConfigurationSets', {
    params: { scope: 'project', scopeId: project.id },
    query: { setIds: inProject.id },
  });
  const environment = await createIdle({
    projectId: project.id,
    configurationSetChanges: { assign: [second.id, first.id, inProject.id] },
  });
  const { id } = await deploy(environment.id);
  const expected = [inProject.id, second.id, first.id];
  assert.deepEqual(await assigned('deployment', id), expected);
  const later = await deploy(environment.id, { configurationSetChanges: { unassign: [first.id] } });
  await ok('deleteConfigurationSet', { id: second.id });
  assert.deepEqual(await assigned('environment', environment.id), [inProject.id]);
  assert.deepEqual(await assigned('deployment', id), expected);
  assert.deepEqual(await assigned('deployment', later.id), [inProject.id, second.id]);
  const params = { scope: 'deployment', scopeId: id };
  const rows = await ok('listSetAssignments', { params });
  assert.deepEqual(fieldOf(rows, 'isDeleted'), [undefined, true, undefined]);
  for (const name of ['assignConfigurationSets', 'unassignConfigurationSets'] as const)
    await refused(name, 400, { params, query: { setIds: first.id } });
});

test('environments and projects do not leave the project of a set that is assigned to them', async (t) => {
  const parent = await createProject('parent of sets');
  const child = await createProject('child of sets', parent.id);
  const target = await createProject('target');
  const set = await createSet({ scope: 'project', scopeId: parent.id });
  const environment = await createEnvironment({
    projectId: child.id,
    preventAutoDeploy: true,
    configurationSetChanges: { assign: [set.id] },
  });
  const move = (projectId: string) => ({ id: environment.id, body: { projectId } });
  const moveProject = { id: child.id, body: { targetProjectId: target.id } };
  const refusal = new RegExp(`"${set.name}" belongs to a project that this would leave, and is assigned to`);
  await refused('moveEnvironment', 409, refusal, move(target.id));
  await refused('moveProject', 409, refusal, moveProject);
  await ok('moveEnvironment', move(parent.id));
  await ok('moveEnvironment', move(child.id));
  const places = [
    ['template', environment.blueprintId],
    ['project', child.id],
    ['environment', environment.id],
  ] as const;
  const query = { setIds: set.id };
  for (const [scope, scopeId] of places.slice(0, 2))
    await ok('assignConfigurationSets', { params: { scope, scopeId }, query });
  for (const [scope, scopeId] of places) {
    await refused('moveProject', 409, refusal, moveProject);
    await ok('unassignConfigurationSets', { params: { scope, scopeId }, query });
  }
  for (let count = 0; count < 20; count++)
    await createEnvironment({
      projectId: parent.id,
      preventAutoDeploy: true,
      configurationSetChanges: { assign: [set.id] },
    });
  const statements = t.mock.method(pg.Client.prototype, 'query');
  await ok('moveProject', moveProject);
  const reads = statements.mock.calls.filter(({ arguments: [query] }) =>
    JSON.stringify(query).includes('from \\"environment\\"'),
  );
  statements.mock.restore();
  assert.ok(reads.length < 10, `${reads.length} queries for 20 assignments`);
  assert.deepEqual(await assigned('project', child.id), []);
});

test('assignments are deleted with the environment', async () => {
  const set = await createSet();
  const environment = await createEnvironment({
    preventAutoDeploy: true,
    configurationSetChanges: { assign: [set.id] },
  });
  const query = { setIds: set.id };
  const params = { scope: 'template', scopeId: environment.blueprintId };
  await ok('assignConfigurationSets', { params, query });
  await ok('deleteEnvironment', { id: environment.id });
  const left = await app.context.db
    .selectFrom('configuration_set_assignment')
    .select('scope')
    .where('set_id', '=', set.id)
    .execute();
  assert.deepEqual(left, []);
});

test('variables of assigned sets reach runs: inner places and plain variables win, then later sets', async () => {
  covers('listVariables', 'query.setId');
  const project = await createProject('values');
  const value = (name: string, text: string) => ({ name, value: text });
  const outer = await createSet({ configurationProperties: [value('ONLY', 'outer'), value('A', 'outer')] });
  const first = await createSet({
    configurationProperties: [value('A', 'first'), value('B', 'first'), value('C', 'first')],
  });
  const secret = 'planted-secret-of-a-set';
  const second = await createSet({
    configurationProperties: [value('B', 'second'), { ...value('SECRET', secret), isSensitive: true }],
  });
  await ok('assignConfigurationSets', {
    params: { scope: 'project', scopeId: project.id },
    query: { setIds: outer.id },
  });
  const environment = await createIdle({
    projectId: project.id,
    requiresApproval: false,
    configurationChanges: [value('C', 'plain')],
    configurationSetChanges: { assign: [first.id, second.id] },
  });
  const { id } = await deploy(environment.id, { deploymentType: 'dryRun' });
  const job = await agent.claim();
  await agent.finish(job, plannedOutcome());
  const valuesByName = new Map(job.variables.environment.map((each) => [each.name, each.value]));
  assert.deepEqual(
    ['ONLY', 'A', 'B', 'C', 'SECRET'].map((name) => valuesByName.get(name)),
    ['outer', 'first', 'second', 'plain', secret],
  );
  const { variables = [] } = await ok('getDeployment', { id });
  const shown = variables.find(({ name }) => name === 'SECRET');
  assert.deepEqual([shown?.scope, shown?.scopeId, shown?.value], ['SET', second.id, '********']);
  const query = { organizationId, environmentId: environment.id };
  const rows = await ok('listVariables', { query });
  const overwrites = (name: string) => {
    const hidden = rows.find((row) => row.name === name)?.overwrites;
    return hidden && [hidden.scope, hidden.scopeId, hidden.value];
  };
  assert.deepEqual(overwrites('B'), ['SET', first.id, 'first']);
  assert.deepEqual(overwrites('C'), ['SET', first.id, 'first']);
  assert.deepEqual(overwrites('A'), ['SET', outer.id, 'outer']);
  assert.equal(overwrites('ONLY'), null);
  const ofSet = await ok('listVariables', { query: { organizationId, setId: second.id } });
  assert.deepEqual(fieldsOf(ofSet, 'name', 'scope', 'scopeId', 'value'), [
    ['B', 'SET', second.id, 'second'],
    ['SECRET', 'SET', second.id, '********'],
  ]);
  await ok('deleteConfigurationSet', { id: first.id });
  await deploy(environment.id, { deploymentType: 'dryRun' });
  const later = await agent.claim();
  await agent.finish(later, plannedOutcome());
  const values = new Map(later.variables.environment.map((each) => [each.name, each.value]));
  assert.deepEqual([values.get('A'), values.get('B'), values.get('C')], ['outer', 'second', 'plain']);
});

test('variables of a set are also written one by one, and the mask of a secret keeps it', async () => {
  const set = await createSet({
    configurationProperties: [{ name: 'TOKEN', value: 'planted-secret-kept', isSensitive: true }],
  });
  const scope = { scope: 'SET', scopeId: set.id, organizationId };
  const [token] = await ok('listVariables', { query: { organizationId, setId: set.id } });
  await ok('updateConfigurationSet', {
    id: set.id,
    body: { configurationPropertiesChanges: [{ ...token, overwrites: null, description: 'kept' }] },
  });
  const [plain] = await ok('saveVariables', { body: [{ ...scope, name: 'PLAIN', value: 'v' }] });
  const environment = await createIdle({ configurationSetChanges: { assign: [set.id] } });
  await deploy(environment.id, { deploymentType: 'dryRun' });
  const job = await agent.claim();
  await agent.finish(job, plannedOutcome());
  const variables = job.variables.environment.filter(({ name }) => ['TOKEN', 'PLAIN'].includes(name));
  assert.deepEqual(variables.map(({ value }) => value).toSorted(), ['planted-secret-kept', 'v']);
  await ok('deleteVariable', { id: plain?.id ?? '' });
  const left = await ok('listVariables', { query: { organizationId, setId: set.id } });
  assert.deepEqual(fieldsOf(left, 'name', 'description'), [['TOKEN', 'kept']]);
  const user = await app.addKey({ [organizationId]: 'User' });
  await refused('saveVariables', 403, { body: [{ ...scope, name: 'X', value: 'v' }], as: user });
  await ok('deleteConfigurationSet', { id: set.id });
  await refused('listVariables', 400, { query: { organizationId, setId: set.id } });
  await refused('saveVariables', 400, { body: [{ ...scope, name: 'X', value: 'v' }] });
});
