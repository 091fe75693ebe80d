import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import type { OperationName } from '#contract/operations.ts';
import { fieldOf, fieldsOf } from '../../../testing/fields.ts';
import { startTests } from '../../../testing/start.ts';
import { listVariablesOf, openValue } from '../../rows/variables/variable-store.ts';

const tests = await startTests();
const { app, organizationId, projectId, call, ok, refused, add, keyFor, createEnvironment } = tests;

let counter = 0;
const freshName = () => `set ${++counter}`;

async function createSet(more: object = {}) {
  const body = { name: freshName(), scope: 'organization', scopeId: organizationId, ...more };
  return ok('createConfigurationSet', { body });
}

/** By name and type. */
async function rowsOf(setId: string) {
  const rows = await listVariablesOf(app.context.db, [{ scope: 'SET', scopeId: setId }]);
  return rows.toSorted((a, b) => a.name.localeCompare(b.name) || a.type - b.type);
}

async function variablesOf(setId: string) {
  return (await rowsOf(setId)).map((row) => [row.name, row.type, openValue(app.context, row)]);
}

const createProject = (name: string, parentProjectId?: string) =>
  add('Project', name, parentProjectId ? { parentProjectId } : {});

test('a set is created with its variables, and read, listed and deleted', async () => {
  covers('ConfigurationSet', 'name', 'description', 'creationScope', 'creationScopeId', 'id', 'createdAt');
  covers(
    'ConfigurationSet',
    'organizationId',
    'createdBy',
    'createdByUser',
    'updatedAt',
    'assignmentScopeId',
  );
  const made = await createSet({
    description: 'for all',
    configurationProperties: [
      { name: 'REGION', value: 'eu', scope: 'SET', organizationId },
      { name: 'size', type: 1, value: '[1]', schema: { format: 'HCL' } },
      { name: 'size', type: 0, value: 'the same name of another type' },
    ],
  });
  assert.deepEqual(
    [made.description, made.creationScope, made.creationScopeId, made.organizationId, made.createdBy],
    ['for all', 'organization', organizationId, organizationId, app.admin.id],
  );
  assert.equal(made.createdByUser?.user_id, app.admin.id);
  assert.deepEqual(await variablesOf(made.id), [
    ['REGION', 0, 'eu'],
    ['size', 0, 'the same name of another type'],
    ['size', 1, '[1]'],
  ]);
  const read = await ok('getConfigurationSet', { id: made.id });
  assert.deepEqual(read, { ...made, assignedTo: [] });
  const newer = await createSet();
  const listed = await ok('listConfigurationSets', {
    query: { scope: 'organization', scopeId: organizationId },
  });
  assert.deepEqual(fieldOf(listed, 'id'), [newer.id, made.id]);
  assert.deepEqual(await ok('deleteConfigurationSet', { id: made.id }), { id: made.id });
  for (const name of ['getConfigurationSet', 'updateConfigurationSet', 'deleteConfigurationSet'] as const)
    await refused(name, 404, { id: made.id, body: {} });
  await createSet({ name: made.name });
});

test('lists by project or organization have the sets that were created there', async () => {
  const other = await createProject('sets of its own');
  const own = await createSet({ scope: 'project', scopeId: other.id });
  for (const query of [
    { scope: 'project', scopeId: other.id },
    { scopeId: other.id },
    { projectId: other.id },
    { projectId: other.id, organizationId },
  ] as Record<string, string>[])
    assert.deepEqual(fieldOf(await ok('listConfigurationSets', { query }), 'id'), [own.id]);
  const ofOrganization = await ok('listConfigurationSets', { query: { organizationId } });
  assert.ok(ofOrganization.length > 0 && ofOrganization.every((set) => set.creationScope === 'organization'));
  for (const [query, field] of [
    [{ scope: 'organization', scopeId: other.id }, 'query/scope'],
    [{ projectId: other.id, organizationId: other.id }, 'query/organizationId'],
    [{ scopeId: other.id, projectId }, 'query/projectId'],
    [{ scope: 'project' }, 'query/scopeId'],
    [{ scopeId: randomUUID() }, 'query/scopeId'],
  ] as [Record<string, string>, string][])
    await refused('listConfigurationSets', 400, new RegExp(field), { query });
});

test('an update changes, adds and removes variables, and leaves the others as they are', async () => {
  covers('updateConfigurationSet', 'body.configurationPropertiesChanges', 'body.name', 'body.description');
  const set = await createSet({
    configurationProperties: ['A', 'B', 'C'].map((name) => ({ name, value: name })),
  });
  const [a, b] = await rowsOf(set.id);
  const row = { scope: 'SET', scopeId: set.id, organizationId };
  const changed = await ok('updateConfigurationSet', {
    id: set.id,
    body: {
      configurationPropertiesChanges: [
        { ...row, id: a?.id, name: 'A', value: 'new' },
        { ...row, id: b?.id, name: 'B', toDelete: true },
        { ...row, name: 'D', value: 'D' },
      ],
    },
  });
  assert.deepEqual([changed.name, changed.description], [set.name, set.description]);
  assert.deepEqual(await variablesOf(set.id), [
    ['A', 0, 'new'],
    ['C', 0, 'C'],
    ['D', 0, 'D'],
  ]);
  const name = freshName();
  const renamed = await ok('updateConfigurationSet', {
    id: set.id,
    body: { name, description: 'words', configurationPropertiesChanges: null },
  });
  assert.deepEqual(
    [renamed.name, renamed.description, (await variablesOf(set.id)).length],
    [name, 'words', 3],
  );
});

test('ids of a set, its variables and places may be in upper case', async () => {
  const upper = (text: string) => text.toUpperCase();
  const set = await createSet({ configurationProperties: [{ name: 'A', value: 'a' }] });
  const [a] = await rowsOf(set.id);
  const row = { scope: 'SET', scopeId: upper(set.id), organizationId: upper(organizationId), name: 'A' };
  await ok('updateConfigurationSet', {
    id: upper(set.id),
    body: { configurationPropertiesChanges: [{ ...row, id: upper(a?.id ?? ''), value: 'new' }] },
  });
  assert.deepEqual(await variablesOf(set.id), [['A', 0, 'new']]);
  await ok('saveVariables', { body: [{ ...row, value: 'newer' }] });
  assert.deepEqual(await variablesOf(set.id), [['A', 0, 'newer']]);
  const listed = await ok('listVariables', { query: { organizationId, setId: upper(set.id) } });
  assert.deepEqual(fieldsOf(listed, 'value', 'scopeId'), [['newer', set.id]]);
});

test('a variable without id whose name and type the set has is replaced', async () => {
  const set = await createSet({
    configurationProperties: [
      { name: 'x', type: 1, value: 'text', regex: '^t', isRequired: true, description: 'old' },
    ],
  });
  const [before] = await rowsOf(set.id);
  await ok('updateConfigurationSet', {
    id: set.id,
    body: {
      configurationPropertiesChanges: [{ name: 'x', type: 1, value: '{}', schema: { format: 'HCL' } }],
    },
  });
  const [after, ...others] = await rowsOf(set.id);
  assert.deepEqual(others, []);
  assert.deepEqual(
    [after?.id, after?.schema, after?.regex, after?.is_required, after?.description],
    [before?.id, { format: 'HCL' }, '', false, ''],
  );
  assert.deepEqual(await variablesOf(set.id), [['x', 1, '{}']]);
});

test('requests that contradict themselves or the set are refused, and nothing is stored', async () => {
  const { name, id } = await createSet({ configurationProperties: [{ name: 'KEPT', value: 'kept' }] });
  const other = await createSet({ configurationProperties: [{ name: 'FOREIGN', value: 'v' }] });
  const [foreign] = await rowsOf(other.id);
  await refused('createConfigurationSet', 409, new RegExp(`"${name}" already exists in this organization`), {
    body: { name, scope: 'organization', scopeId: organizationId },
  });
  await refused('updateConfigurationSet', 409, { id: other.id, body: { name } });
  const changes = 'body/configurationPropertiesChanges';
  const repeated = [
    { name: 'TWICE', value: '1' },
    { name: 'TWICE', value: '2' },
  ];
  const refusals: [unknown[], RegExp][] = [
    [[{ name: 'A', scope: 'PROJECT' }], new RegExp(`/${changes}/0/scope must be SET`)],
    [[{ name: 'A' }, { name: 'B', scopeId: other.id }], new RegExp(`/${changes}/1/scopeId must be`)],
    [[{ name: 'A', organizationId: randomUUID() }], new RegExp(`/${changes}/0/organizationId`)],
    [[{ id: foreign?.id, name: 'FOREIGN' }], new RegExp(`/${changes}/0/id does not match`)],
    [[{ name: 'A', regex: '(' }], new RegExp(`/${changes}/0/regex`)],
    [[{ name: '.a', type: 1 }], new RegExp(`/${changes}/0/name`)],
    [repeated, new RegExp(`/${changes}/1/name`)],
  ];
  for (const [configurationPropertiesChanges, message] of refusals) {
    const body = { configurationPropertiesChanges };
    await refused('updateConfigurationSet', 400, message, { id, body });
  }
  assert.deepEqual(await variablesOf(id), [['KEPT', 0, 'kept']]);
  const body = { name: freshName(), scope: 'organization', scopeId: organizationId };
  const bodies: [object, RegExp][] = [
    [{ configurationProperties: [{ name: 'A', scopeId: id }] }, /configurationProperties\/0\/scopeId/],
    [{ configurationProperties: repeated }, /\/body\/configurationProperties\/1\/name/],
    [{ scope: 'project' }, /\/body\/scopeId is the id of an organization/],
    [{ scopeId: projectId }, /\/body\/scopeId is the id of a project/],
    [{ scopeId: randomUUID() }, /\/body\/scopeId does not match/],
    [{ scope: 'environment' }, /\/body\/scope/],
  ];
  for (const [more, message] of bodies)
    await refused('createConfigurationSet', 400, message, { body: { ...body, ...more } });
  await ok('createConfigurationSet', { body });
});

test('names are unique in the scope in which a set was created, not beyond it', async () => {
  const { name } = await createSet();
  const inProject = await createSet({ name, scope: 'project', scopeId: projectId });
  await refused('createConfigurationSet', 409, /already exists in this project/, {
    body: { name, scope: 'project', scopeId: projectId },
  });
  const both = freshName();
  const made = await Promise.all(
    [1, 2, 3].map(() =>
      call('createConfigurationSet', {
        body: { name: both, scope: 'organization', scopeId: organizationId },
      }),
    ),
  );
  assert.deepEqual(made.map(({ statusCode }) => statusCode).toSorted(), [200, 409, 409]);
  await ok('deleteConfigurationSet', { id: inProject.id });
});

const assign = (scope: string, scopeId: string, ...ids: string[]) =>
  ok('assignConfigurationSets', { params: { scope, scopeId }, query: { setIds: ids.join(',') } });
const assigned = async (scope: string, scopeId: string) =>
  (await ok('listSetAssignments', { params: { scope, scopeId } })).map((set) => [
    set.name,
    set.assignmentScope,
    set.assignmentScopeId,
  ]);

test('assignments are inherited from organization, template and projects, and say where they are', async () => {
  covers('ConfigurationSet', 'assignmentScope', 'assignmentScopeId');
  const parent = await createProject('assigned');
  const child = await createProject('child', parent.id);
  const environment = await createEnvironment({ projectId: child.id });
  const sets = await Promise.all([1, 2, 3, 4, 5, 6].map(() => createSet()));
  const [inOrganization, inTemplate, inParent, inChild, first, second] = sets.map(({ id }) => id) as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  const { blueprintId } = environment;
  assert.equal(await assign('environment', environment.id, first), null);
  await assign('environment', environment.id, second, first, first);
  await assign('project', child.id, inChild);
  await assign('project', parent.id, inParent);
  await assign('template', blueprintId, inTemplate);
  await assign('organization', organizationId, inOrganization);
  const rows = [
    [inOrganization, 'organization', organizationId],
    [inTemplate, 'template', blueprintId],
    [inParent, 'project', parent.id],
    [inChild, 'project', child.id],
    [first, 'environment', environment.id],
    [second, 'environment', environment.id],
  ].map(([id, ...where]) => [sets.find((set) => set.id === id)?.name, ...where]);
  assert.deepEqual(await assigned('environment', environment.id), rows);
  assert.deepEqual(await assigned('project', child.id), [rows[0], rows[2], rows[3]]);
  assert.deepEqual(await assigned('project', parent.id), [rows[0], rows[2]]);
  assert.deepEqual(await assigned('template', blueprintId), [rows[0], rows[1]]);
  assert.deepEqual(await assigned('organization', organizationId), [rows[0]]);

  const gone = {
    params: { scope: 'environment', scopeId: environment.id },
    query: { setIds: `${second}, ${first}` },
  };
  assert.equal(await ok('unassignConfigurationSets', gone), null);
  assert.deepEqual(await assigned('environment', environment.id), rows.slice(0, 4));
  const { message } = await refused('unassignConfigurationSets', 404, gone);
  assert.match(message, /^Configuration Set "set \d+" is not assigned to environment\.$/);
  const inherited = { params: { scope: 'project', scopeId: child.id }, query: { setIds: inParent } };
  await refused('unassignConfigurationSets', 404, /is not assigned to project\./, inherited);
  const unknown = { params: { scope: 'project', scopeId: child.id }, query: { setIds: `${inChild},none` } };
  await refused('unassignConfigurationSets', 404, /"none" is not assigned to project\./, unknown);
  assert.deepEqual(await assigned('project', child.id), [rows[0], rows[2], rows[3]]);
  await ok('deleteConfigurationSet', { id: inOrganization });
  assert.deepEqual(await assigned('project', child.id), [rows[2], rows[3]]);
});

test('a set says where it is assigned, without what the caller may not see', async () => {
  const project = await createProject('places');
  const environment = await createEnvironment({ projectId: project.id });
  const set = await createSet();
  await assign('environment', environment.id, set.id);
  await assign('project', project.id, set.id);
  await assign('template', environment.blueprintId, set.id);
  await assign('organization', organizationId, set.id);
  const places = async (more: object = {}) => {
    const { assignedTo } = await ok('getConfigurationSet', { id: set.id, ...more });
    return assignedTo.map(({ scope, scopeId }) => [scope, scopeId]);
  };
  const all = [
    ['environment', environment.id],
    ['project', project.id],
    ['template', environment.blueprintId],
    ['organization', organizationId],
  ];
  assert.deepEqual(await places(), all);
  const user = await app.addKey({ [organizationId]: 'User' });
  assert.deepEqual(await places({ as: user }), [['organization', organizationId]]);
  await ok('deleteConfigurationSet', { id: set.id });
});

test('sets of projects can be assigned in that project and below it only', async () => {
  const one = await createProject('one');
  const below = await createProject('below', one.id);
  const two = await createProject('two');
  const set = await createSet({ scope: 'project', scopeId: one.id });
  const environment = await createEnvironment({ projectId: below.id });
  await assign('project', one.id, set.id);
  await assign('project', below.id, set.id);
  await assign('environment', environment.id, set.id);
  await assign('template', environment.blueprintId, set.id);
  const elsewhere = await createEnvironment({ projectId: two.id });
  for (const [scope, scopeId] of [
    ['project', two.id],
    ['organization', organizationId],
    ['environment', elsewhere.id],
    ['template', elsewhere.blueprintId],
  ] as const) {
    const { message } = await refused('assignConfigurationSets', 400, {
      params: { scope, scopeId },
      query: { setIds: set.id },
    });
    assert.match(message, /^\/query\/setIds\/0 is the configuration set "set \d+" of a project/);
  }
});

test('unknown sets, scopes and places are refused by name', async () => {
  const { id } = await createSet();
  const other = await app.addKey();
  const foreign = await ok('createOrganization', { body: { name: 'Foreign' }, as: other });
  const set = await ok('createConfigurationSet', {
    body: { name: 's', scope: 'organization', scopeId: foreign.id },
    as: other,
  });
  const params = { scope: 'project', scopeId: projectId };
  for (const [setIds, field] of [
    [set.id, 'setIds/0'],
    [`${id},${randomUUID()}`, 'setIds/1'],
    ['none', 'setIds/0'],
    [' , ', 'setIds must name'],
  ] as const) {
    const { message } = await refused('assignConfigurationSets', 400, { params, query: { setIds } });
    assert.match(message, new RegExp(`^/query/${field}`));
  }
  assert.deepEqual(await assigned('project', projectId), []);
  const query = { setIds: id };
  const environment = await createEnvironment();
  const places: [string, string, number, RegExp][] = [
    ['projects', projectId, 400, /\/params\/scope must be one of/],
    ['project', environment.id, 404, /No project with id/],
    ['module', projectId, 404, /No module with id/],
    ['project', foreign.id, 404, /No assignment scope with id/],
    [
      'deployment',
      environment.latestDeploymentLogId ?? '',
      400,
      /\/params\/scope deployment cannot be changed/,
    ],
  ];
  for (const [scope, scopeId, status, message] of places)
    await refused('assignConfigurationSets', status, message, { params: { scope, scopeId }, query });
});

test('sets of the organization are assigned to modules, and listed there with those of the organization', async () => {
  const [outer, own] = [await createSet(), await createSet()];
  const ofProject = await createSet({ scope: 'project', scopeId: projectId });
  const { id: scopeId } = await ok('createModule', {
    body: {
      organizationId,
      moduleName: 'with-sets',
      moduleProvider: 'aws',
      repository: 'https://git.example.com/network.git',
    },
  });
  const params = { scope: 'module', scopeId };
  const organization = { scope: 'organization', scopeId: organizationId };
  const warningOf = async (input: object) => {
    const { statusCode, headers, body } = await call('assignConfigurationSets', input);
    assert.equal(statusCode, 200, body);
    return headers['x-envarium-warning'];
  };
  assert.equal(await warningOf({ params: organization, query: { setIds: outer.id } }), undefined);
  assert.match(
    String(await warningOf({ params, query: { setIds: own.id } })),
    /^scope module is stored but has no effect yet: modules do not run/,
  );
  const listed = await ok('listSetAssignments', { params });
  assert.deepEqual(fieldsOf(listed, 'id', 'assignmentScope', 'assignmentScopeId'), [
    [outer.id, 'organization', organizationId],
    [own.id, 'module', scopeId],
  ]);
  const foreign = { params, query: { setIds: ofProject.id } };
  await refused('assignConfigurationSets', 400, /setIds\/0/, foreign);
  const user = await app.addKey({ [organizationId]: ['VIEW_ORGANIZATION'] });
  const query = { setIds: own.id };
  const missing = async (name: OperationName, input: object) =>
    /needs the right (\w+)/.exec((await refused(name, 403, { ...input, as: user })).message)?.[1];
  assert.equal(await missing('listSetAssignments', { params }), 'VIEW_MODULES');
  assert.equal(await missing('assignConfigurationSets', { params, query }), 'CREATE_AND_EDIT_MODULES');
  const editor = await app.addKey({ [organizationId]: ['VIEW_ORGANIZATION', 'CREATE_AND_EDIT_MODULES'] });
  await ok('unassignConfigurationSets', { params, query, as: editor });
  await ok('unassignConfigurationSets', { params: organization, query: { setIds: outer.id } });
  assert.deepEqual(await ok('listSetAssignments', { params }), []);
  await ok('deleteModule', { id: scopeId });
  await refused('assignConfigurationSets', 404, { params, query });
});

test('each place needs its right, and sets of a project are visible to those who see the project', async () => {
  const { id } = await createSet();
  const own = await createSet({ scope: 'project', scopeId: projectId });
  const environment = await createEnvironment();
  const user = await app.addKey({ [organizationId]: 'User' });
  const projectAdmin = await keyFor('Admin', { projectId });
  const deployer = await keyFor('Deployer', { environmentId: environment.id });
  const query = { setIds: id };
  const at = (scope: string, scopeId: string) => ({ params: { scope, scopeId }, query });
  const right = async (name: OperationName, input: object, as: typeof user) =>
    /needs the right (\w+)/.exec((await refused(name, 403, { ...input, as })).message)?.[1];
  const update = { id: own.id, body: { description: 'd' } };
  assert.equal(await right('getConfigurationSet', { id: own.id }, user), 'VIEW_PROJECT');
  assert.equal(await right('listConfigurationSets', { query: { scopeId: projectId } }, user), 'VIEW_PROJECT');
  await ok('getConfigurationSet', { id, as: user });
  await ok('getConfigurationSet', { id: own.id, as: projectAdmin });
  await ok('updateConfigurationSet', { ...update, as: projectAdmin });
  assert.equal(await right('updateConfigurationSet', update, user), 'EDIT_PROJECT_SETTINGS');
  const ofOrganization = { id, body: {} };
  assert.equal(
    await right('updateConfigurationSet', ofOrganization, projectAdmin),
    'EDIT_ORGANIZATION_SETTINGS',
  );
  assert.equal(
    await right('deleteConfigurationSet', ofOrganization, projectAdmin),
    'EDIT_ORGANIZATION_SETTINGS',
  );
  const create = { body: { name: 'n', scope: 'organization', scopeId: organizationId } };
  assert.equal(await right('createConfigurationSet', create, projectAdmin), 'EDIT_ORGANIZATION_SETTINGS');
  const assigning = 'assignConfigurationSets';
  await ok(assigning, { ...at('project', projectId), as: projectAdmin });
  await ok(assigning, { ...at('environment', environment.id), as: deployer });
  assert.equal(
    await right(assigning, at('organization', organizationId), projectAdmin),
    'EDIT_ORGANIZATION_SETTINGS',
  );
  assert.equal(await right(assigning, at('project', projectId), deployer), 'EDIT_PROJECT_SETTINGS');
  assert.equal(await right(assigning, at('environment', environment.id), user), 'EDIT_ENVIRONMENT_SETTINGS');
  assert.equal(await right(assigning, at('template', environment.blueprintId), user), 'EDIT_VCS_ENVIRONMENT');
  assert.equal(
    await right('listSetAssignments', at('environment', environment.id), user),
    'VIEW_ENVIRONMENT',
  );
  await refused(assigning, 403, /setIds\/0 needs the right VIEW_/, {
    ...at('environment', environment.id),
    query: { setIds: own.id },
    as: deployer,
  });
});

test('the audit trail names sets, places and variables, and shows no value', async () => {
  const secret = 'planted-secret-of-a-set';
  const set = await createSet({ configurationProperties: [{ name: 'S', value: secret, isSensitive: true }] });
  await assign('project', projectId, set.id);
  await ok('deleteConfigurationSet', { id: set.id });
  const { events } = await ok('listAuditEvents', { query: { organizationId, limit: '100' } });
  const text = JSON.stringify(events);
  const actions = events.filter(({ entityId }) => entityId === set.id).map(({ actionName }) => actionName);
  assert.deepEqual(actions.toSorted(), [
    'configurationSet.assigned',
    'configurationSet.created',
    'configurationSet.deleted',
    'variables.changed',
  ]);
  assert.ok(!text.includes(secret));
});
