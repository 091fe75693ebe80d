import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { startTests } from '../../../testing/start.ts';

const tests = await startTests();
const { app, organizationId, projectId, ok, refused } = tests;
const { add, createEnvironment, templateBody, createTemplate } = tests;
const repository = 'https://git.example.com/flows.git';
const flags = {
  isBitbucketServer: false,
  isGitLabEnterprise: false,
  isGitHubEnterprise: false,
  isGitLab: true,
  isAzureDevOps: false,
};
let count = 0;

async function newFlow(more: object = {}) {
  return add('CustomFlow', `flow ${++count}`, { repository, ...more });
}

const inProject = (blueprintId: string, more: object = {}) => ({
  scope: 'PROJECT' as const,
  scopeId: projectId,
  blueprintId,
  ...more,
});
const assign = (body: object[]) => ok('assignCustomFlows', { body: body as never });
const assigned = async (...places: object[]) => ok('listCustomFlowAssignments', { body: places as never });
const idsAt = async (...places: object[]) =>
  (await assigned(...places)).map(({ blueprintId }) => blueprintId);

test('a custom flow is read back as it was sent, and is found by its exact name', async () => {
  const token = await add('GitToken', 't', { value: 'v' });
  const sent = {
    ...flags,
    name: 'all fields',
    repository,
    path: 'flows/envarium.yaml',
    revision: 'main',
    tokenId: token.id,
    sshKeys: [],
    isTerragruntRunAll: false,
  };
  const flow = await ok('createCustomFlow', { body: { organizationId, ...sent } });
  const { id, author, authorId, createdAt, updatedAt, isDeleted, ...stored } = flow;
  assert.deepEqual(stored, { ...sent, organizationId, type: 'custom-flow' });
  assert.deepEqual([author.user_id, authorId, isDeleted, createdAt], ['admin', 'admin', false, updatedAt]);
  assert.deepEqual(await ok('getCustomFlow', { id }), flow);
  const named = (name: string) => ok('listCustomFlows', { query: { organizationId, name } });
  assert.deepEqual(await named('all fields'), [flow]);
  assert.deepEqual(await named('all'), []);
  assert.deepEqual(await ok('listCustomFlows', { query: { organizationId } }), [flow]);
  const least = await newFlow();
  for (const field of ['path', 'revision', 'tokenId', 'isGitLab', 'retry', 'projectIds'])
    assert.ok(!(field in least), field);
});

test('an update replaces the flow', async () => {
  const { id } = await newFlow({ path: 'a.yaml', revision: 'v1', isGitLab: true });
  const body = { id, name: 'replaced', repository, path: 'b.yaml' };
  const flow = await ok('updateCustomFlow', { body });
  assert.deepEqual([flow.id, flow.name, flow.path], [id, 'replaced', 'b.yaml']);
  for (const field of ['revision', 'isGitLab']) assert.ok(!(field in flow), field);
  assert.deepEqual(await ok('getCustomFlow', { id }), flow);
});

test('names are unique among custom flows, and free again after a deletion', async () => {
  const { id, name } = await newFlow();
  const body = { organizationId, name, repository };
  const error = await refused('createCustomFlow', 409, { body });
  assert.match(error.message, /^A custom flow named ".*" already exists: choose another name$/);
  const other = await newFlow();
  await refused('updateCustomFlow', 409, { body: { id: other.id, name, repository } });
  await ok('createApprovalPolicy', { body });
  await createTemplate({ name });
  assert.deepEqual(await ok('deleteCustomFlow', { id }), { id });
  assert.notEqual((await ok('createCustomFlow', { body })).id, id);
});

test('a deleted flow is gone for its operations, and can be read as a template', async () => {
  const { id, name } = await newFlow();
  await assign([inProject(id)]);
  await ok('deleteCustomFlow', { id });
  await refused('getCustomFlow', 404, { id });
  await refused('deleteCustomFlow', 404, { id });
  await refused('updateCustomFlow', 400, { body: { id, name, repository } });
  assert.deepEqual(await ok('listCustomFlows', { query: { organizationId, name } }), []);
  assert.deepEqual(await idsAt(inProject(id)), []);
  await refused('assignCustomFlows', 400, /custom flow/, { body: [inProject(id)] });
  assert.equal(await ok('unassignCustomFlows', { body: [inProject(id)] }), null);
  assert.equal((await ok('getTemplate', { id })).isDeleted, true);
});

test('a flow remains a flow: no environment is created from it, and no template replaces it', async () => {
  const { id, name } = await newFlow();
  const template = await ok('getTemplate', { id });
  assert.equal(template.type, 'custom-flow');
  const list = await ok('listTemplates', { query: { organizationId } });
  assert.ok(!list.some((each) => each.id === id));
  const body = { ...templateBody(), name };
  await refused('updateTemplate', 400, /^\/body\/type cannot be changed: this is a custom flow/, {
    id,
    body,
  });
  await refused('addTemplateToProject', 409, /is a custom flow/, { id, body: { projectId } });
  await refused('createEnvironment', 400, {
    body: { name: 'x', projectId, deployRequest: { blueprintId: id } },
  });
  const { id: other } = await createTemplate();
  await refused('getCustomFlow', 404, { id: other });
  await refused('deleteCustomFlow', 404, { id: other });
});

test('malformed flows are refused by field', async () => {
  const body = { organizationId, name: 'malformed', repository };
  for (const [changes, field] of [
    [{ name: ' ' }, /name/],
    [{ repository: 'file:///etc' }, /repository/],
    [{ path: '../up.yaml' }, /path/],
    [{ revision: '--upload-pack' }, /revision/],
    [{ tokenId: 'unknown' }, /tokenId/],
    [{ sshKeys: [{ id: 'unknown' }] }, /sshKeys/],
    [{ vcsConnectionId: randomUUID() }, /vcsConnectionId/],
    [{ isGitLab: true, isAzureDevOps: true }, /isAzureDevOps/],
    [{ isTerragruntRunAll: true }, /isTerragruntRunAll/],
    [{ type: 'terraform' }, /type/],
  ] as const)
    await refused('createCustomFlow', 400, field, { body: { ...body, ...changes } as never });
});

test('credentials in the address are sealed, and not shown', async () => {
  const flow = await newFlow({ repository: 'https://user:made-up-token@git.example.com/flows.git' });
  assert.equal(flow.repository, repository);
  assert.ok(!JSON.stringify(flow).includes('made-up-token'));
});

test('flows are assigned to places in their order, and taken away again', async () => {
  const { id: project } = await add('Project', 'Assigned');
  const below = await add('Project', 'Below', { parentProjectId: project });
  const place = { scope: 'PROJECT', scopeId: project } as const;
  const [first, second, third] = [await newFlow(), await newFlow(), await newFlow()];
  const at = (flow: { id: string }, more: object = {}) => ({ ...place, blueprintId: flow.id, ...more });
  assert.equal(await assign([at(first), at(second, { order: 2 }), at(third, { order: 1 })]), null);
  assert.deepEqual(await idsAt(place), [third.id, second.id, first.id]);
  assert.deepEqual(await assigned(at(second)), [
    { ...place, blueprintId: second.id, organizationId, order: 2, customFlowTemplate: second },
  ]);
  assert.deepEqual(await idsAt({ ...place, scopeId: below.id }), []);
  await assign([at(second, { order: 0 }), at(first)]);
  assert.deepEqual(await idsAt(place), [second.id, third.id, first.id]);
  assert.equal(await ok('unassignCustomFlows', { body: [at(second), at(third)] }), null);
  assert.deepEqual(await idsAt(place), [first.id]);
  await ok('unassignCustomFlows', { body: [at(second)] });
});

test('flows without an order are listed in the order of their assignment', async () => {
  const { id: scopeId } = await add('Project', 'In order');
  const flows = await Promise.all(Array.from({ length: 10 }, () => newFlow()));
  const ids = flows.map(({ id }) => id);
  const place = { scope: 'PROJECT', scopeId };
  await assign(ids.map((blueprintId) => ({ ...place, blueprintId })));
  assert.deepEqual(await idsAt(place), ids);
});

test('flows are assigned to organizations and templates, too', async () => {
  const flow = await newFlow();
  const { id: template } = await createTemplate();
  const places = [
    { scope: 'ORGANIZATION', scopeId: organizationId, blueprintId: flow.id },
    { scope: 'BLUEPRINT', scopeId: template, blueprintId: flow.id },
  ];
  await assign(places);
  assert.deepEqual(await idsAt(...places), [flow.id, flow.id]);
});

test('assignments are all or none, and what they name must be there', async () => {
  const flow = await newFlow();
  const policy = await add('ApprovalPolicy', 'no flow', { repository });
  const { id: template } = await createTemplate();
  const wrong = [
    [inProject(policy.id), /\/body\/1\/blueprintId does not match any custom flow/],
    [inProject(template), /\/body\/1\/blueprintId does not match any custom flow/],
    [inProject('no-uuid'), /\/body\/1\/blueprintId/],
    [{ ...inProject(flow.id), scopeId: randomUUID() }, /\/body\/1\/scopeId does not match any project/],
    [{ ...inProject(flow.id), scope: 'BLUEPRINT', scopeId: flow.id }, /\/body\/1\/scopeId does not match/],
    [{ ...inProject(flow.id), scope: 'BLUEPRINT' }, /\/body\/1\/scopeId does not match any template/],
    [{ ...inProject(flow.id), scope: 'ENVIRONMENT' }, /scope/],
    [inProject(flow.id, { order: -1 }), /order/],
  ] as const;
  for (const [element, message] of wrong) {
    const body = [inProject(flow.id), element] as never;
    await refused('assignCustomFlows', 400, message, { body });
  }
  assert.deepEqual(await idsAt(inProject(flow.id)), []);
});

test('each scope needs its right', async () => {
  const flow = await newFlow();
  const { id: template } = await createTemplate();
  const environment = await createEnvironment({ preventAutoDeploy: true });
  const places = {
    EDIT_ORGANIZATION_SETTINGS: { scope: 'ORGANIZATION', scopeId: organizationId },
    EDIT_PROJECT_SETTINGS: { scope: 'PROJECT', scopeId: projectId },
    CREATE_AND_EDIT_TEMPLATES: { scope: 'BLUEPRINT', scopeId: template },
    EDIT_VCS_ENVIRONMENT: { scope: 'BLUEPRINT', scopeId: environment.blueprintId },
  } as const;
  for (const right of Object.keys(places) as (keyof typeof places)[]) {
    const as = await app.addKey({ [organizationId]: [right] });
    for (const [needed, place] of Object.entries(places)) {
      const body = [{ ...place, blueprintId: flow.id }];
      if (needed === right) {
        await ok('assignCustomFlows', { body, as });
        await ok('unassignCustomFlows', { body, as });
        continue;
      }
      await refused('assignCustomFlows', 403, new RegExp(`needs the right ${needed}`), { body, as });
      await refused('unassignCustomFlows', 403, { body, as });
    }
  }
  const blind = await app.addKey({ [organizationId]: ['VIEW_ORGANIZATION'] });
  await refused('listCustomFlowAssignments', 403, { body: [inProject(flow.id)], as: blind });
});

test('other organizations see nothing of flows, and cannot use them', async () => {
  const flow = await newFlow();
  await assign([inProject(flow.id)]);
  const as = await app.addKey();
  const { id: theirs } = await ok('createOrganization', { body: { name: 'Others' }, as });
  const { id: project } = await ok('createProject', { body: { organizationId: theirs, name: 'P' }, as });
  assert.deepEqual(await ok('listCustomFlows', { query: { organizationId: theirs }, as }), []);
  await refused('getCustomFlow', 404, { id: flow.id, as });
  for (const name of ['assignCustomFlows', 'unassignCustomFlows', 'listCustomFlowAssignments'] as const)
    await refused(name, 400, /scopeId/, { body: [inProject(flow.id)], as });
  const body = [{ ...inProject(flow.id), scopeId: project }];
  await refused('assignCustomFlows', 400, /blueprintId/, { body, as });
  await refused('assignCustomFlows', 400, /scopeId/, { body: [{ ...inProject(flow.id), scopeId: project }] });
});

test('the audit trail names flows and their assignments', async () => {
  const flow = await newFlow();
  const place = inProject(flow.id, { order: 3 });
  await assign([place]);
  await assign([place]);
  await ok('updateCustomFlow', { body: { id: flow.id, name: flow.name, repository, path: 'x.yaml' } });
  await ok('unassignCustomFlows', { body: [place] });
  await ok('deleteCustomFlow', { id: flow.id });
  const { events } = await ok('listAuditEvents', {
    query: { organizationId, entity: 'customFlow', entityId: flow.id },
  });
  assert.deepEqual(
    events.map(({ actionName }) => actionName).toReversed(),
    ['created', 'assigned', 'updated', 'unassigned', 'deleted'].map((action) => `customFlow.${action}`),
  );
  const event = events.find(({ actionName }) => actionName === 'customFlow.assigned');
  assert.deepEqual(event?.after, { scope: 'PROJECT', scopeId: projectId, order: 3 });
  assert.equal(event?.projectId, projectId);
});

test('twenty assignments of one flow at once store one', async () => {
  const flow = await newFlow();
  await Promise.all(Array.from({ length: 20 }, () => assign([inProject(flow.id)])));
  assert.deepEqual(await idsAt(inProject(flow.id)), [flow.id]);
});
