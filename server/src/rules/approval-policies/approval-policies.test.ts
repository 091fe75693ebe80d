import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import { testApp } from '../../../testing/app.ts';
import { call, ok } from '../../../testing/client.ts';
import { startTests } from '../../../testing/start.ts';

const { app, organizationId, projectId, refused, sql, createIdle, createTemplate } = await startTests();
const repository = 'https://git.example.com/policies.git';
let count = 0;

async function newPolicy(more: object = {}) {
  return ok(app, 'createApprovalPolicy', {
    body: { organizationId, name: `policy ${++count}`, repository, ...more },
  });
}

const inProject = (blueprintId: string) => ({ scope: 'PROJECT', scopeId: projectId, blueprintId }) as const;
const assign = (body: ReturnType<typeof inProject>) => ok(app, 'assignApprovalPolicy', { body });
const at = (scope: string, scopeId: string) =>
  ok(app, 'listAssignedApprovalPolicies', { params: { scope, scopeId } });

async function entryOf(id: string, as?: Awaited<ReturnType<typeof app.addKey>>) {
  const query = { organizationId };
  const entries = await ok(app, 'listApprovalPolicies', as ? { query, as } : { query });
  return entries.find(({ policy }) => policy.id === id);
}

test('an approval policy is read back as it was sent, under its own operations and as a template', async () => {
  covers(
    'ApprovalPolicy',
    'id',
    'type',
    'name',
    'repository',
    'organizationId',
    'revision',
    'path',
    'isGitLab',
    'isGitHubEnterprise',
    'isGitLabEnterprise',
    'isAzureDevOps',
    'isBitbucketServer',
    'githubInstallationId',
    'bitbucketClientKey',
    'author',
    'authorId',
    'createdAt',
    'updatedAt',
    'isDeleted',
    'policyConfiguration',
  );
  const sent = {
    name: `approval-policy-PROJECT-${randomUUID()}`,
    repository,
    revision: 'main',
    path: 'policies',
    isGitLab: false,
    isGitHubEnterprise: false,
    isGitLabEnterprise: false,
    isAzureDevOps: false,
    isBitbucketServer: true,
    githubInstallationId: 12,
    bitbucketClientKey: 'key',
    policyConfiguration: { maxCostIncrease: 10, regions: ['a', null] },
  };
  const policy = await ok(app, 'createApprovalPolicy', { body: { organizationId, ...sent } });
  const { id, author, authorId, createdAt, updatedAt, isDeleted, ...stored } = policy;
  assert.deepEqual(stored, { ...sent, organizationId, type: 'approval-policy' });
  assert.deepEqual([author.user_id, authorId, isDeleted, createdAt], ['admin', 'admin', false, updatedAt]);
  const find = (name: string) => ok(app, 'findApprovalPolicies', { query: { organizationId, name } });
  assert.deepEqual(await find(sent.name), [policy]);
  assert.deepEqual(await find('approval-policy'), []);
  const template = await ok(app, 'getTemplate', { id });
  assert.deepEqual([template.type, template.path], ['approval-policy', 'policies']);
});

test('an update replaces the policy', async () => {
  const { id } = await newPolicy({ path: 'a', revision: 'v1' });
  const body = { id, name: 'replaced', repository, path: 'b' };
  const policy = await ok(app, 'updateApprovalPolicy', { body });
  assert.deepEqual([policy.id, policy.name, policy.path], [id, 'replaced', 'b']);
  assert.ok(!('revision' in policy));
  const flow = await ok(app, 'createCustomFlow', { body: { organizationId, name: 'a flow', repository } });
  const error = await refused('updateApprovalPolicy', 400, { body: { ...body, id: flow.id } });
  assert.match(error.message, /^\/body\/id does not match any approval policy/);
});

test('policies are deleted by both paths', async () => {
  for (const name of ['deleteApprovalPolicy', 'deleteTemplate'] as const) {
    const policy = await newPolicy();
    const { id } = policy;
    await assign(inProject(id));
    assert.deepEqual(await ok(app, name, { id }), { id });
    assert.equal((await ok(app, 'getTemplate', { id })).isDeleted, true);
    await refused('deleteApprovalPolicy', 404, { id });
    assert.equal(await entryOf(id), undefined);
    assert.ok(!(await at('PROJECT', projectId)).some(({ blueprint }) => blueprint.id === id));
    await refused('assignApprovalPolicy', 400, { body: inProject(id) });
    await newPolicy({ name: policy.name });
    const { events } = await ok(app, 'listAuditEvents', { query: { organizationId, entityId: id } });
    assert.equal(events[0]?.actionName, 'approvalPolicy.deleted');
  }
});

test('policies are assigned to organizations, projects and templates, and listed there and in all', async () => {
  covers('listApprovalPolicies', 'query.organizationId', 'reply');
  covers('ApprovalPolicyEntry', 'policy', 'assignments');
  covers('NamedApprovalPolicyAssignment', 'scope', 'scopeId', 'blueprintId', 'scopeName');
  const policy = await newPolicy();
  const { id: blueprintId } = policy;
  const template = await createTemplate();
  const scopeName = `Guarded ${randomUUID()}`;
  const project = await ok(app, 'createProject', { body: { organizationId, name: scopeName } });
  const below = await ok(app, 'createProject', {
    body: { organizationId, name: 'Below', parentProjectId: project.id },
  });
  const places = [
    { scope: 'PROJECT', scopeId: project.id, blueprintId },
    { scope: 'BLUEPRINT', scopeId: template.id, blueprintId },
    { scope: 'ORGANIZATION', scopeId: organizationId, blueprintId },
  ] as const;
  // Before the first evaluation, too.
  const { hash } = await ok(app, 'assignApprovalPolicy', { body: places[0] });
  assert.match(hash ?? '', /^[0-9a-f]{64}$/);
  for (const body of places) {
    assert.deepEqual(await ok(app, 'assignApprovalPolicy', { body }), { ...body, hash });
    assert.deepEqual(await ok(app, 'assignApprovalPolicy', { body }), { ...body, hash });
    const [assigned, ...more] = await at(body.scope, body.scopeId);
    assert.deepEqual(more, []);
    const { scope, scopeId } = body;
    const { id, createdAt } = assigned ?? {};
    assert.deepEqual(assigned, { id, createdAt, scope, scopeId, blueprint: policy });
  }
  assert.deepEqual(await at('PROJECT', below.id), []);
  assert.deepEqual(await entryOf(blueprintId), {
    policy,
    assignments: [
      { ...places[2], hash, scopeName: (await ok(app, 'listOrganizations', {}))[0]?.name },
      { ...places[1], hash, scopeName: template.name },
      { ...places[0], hash, scopeName },
    ],
  });
  const { name } = policy;
  await ok(app, 'updateApprovalPolicy', { body: { id: blueprintId, name, repository, path: 'elsewhere' } });
  const changed = await ok(app, 'assignApprovalPolicy', { body: places[0] });
  assert.match(changed.hash ?? '', /^[0-9a-f]{64}$/);
  assert.notEqual(changed.hash, hash);
});

test('an assignment is removed by its name, or with all others of its place', async () => {
  const { id: scopeId } = await ok(app, 'createProject', { body: { organizationId, name: 'Removed' } });
  const policies = [await newPolicy(), await newPolicy(), await newPolicy()];
  const flow = await ok(app, 'createCustomFlow', { body: { organizationId, name: 'stays', repository } });
  const place = { scope: 'PROJECT', scopeId } as const;
  for (const { id } of policies)
    await ok(app, 'assignApprovalPolicy', { body: { ...place, blueprintId: id } });
  await ok(app, 'assignCustomFlows', { body: [{ ...place, blueprintId: flow.id }] });
  const query = { id: `PROJECT#${scopeId}#${policies[0]?.id}` };
  assert.equal(await ok(app, 'unassignApprovalPolicy', { query }), null);
  assert.equal(await ok(app, 'unassignApprovalPolicy', { query }), null);
  assert.deepEqual(
    (await at('PROJECT', scopeId)).map(({ blueprint }) => blueprint.id),
    [policies[2]?.id, policies[1]?.id],
  );
  assert.equal(await ok(app, 'unassignApprovalPolicies', { params: place }), null);
  assert.deepEqual(await at('PROJECT', scopeId), []);
  assert.equal((await ok(app, 'listCustomFlowAssignments', { body: [place] })).length, 1);
});

test('what does not exist is refused by name', async () => {
  const { id } = await newPolicy();
  for (const name of [
    '',
    'PROJECT',
    `PROJECT#${projectId}`,
    `PROJECT#${randomUUID()}#${id}`,
    `PROJECT#${projectId}#${id}#more`,
    `BLUEPRINT#${projectId}#${id}`,
  ])
    assert.match(
      (await refused('unassignApprovalPolicy', 400, { query: { id: name } })).message,
      /\/query\/id/,
      name,
    );
  const elsewhere = { ...inProject(id), scopeId: randomUUID() };
  await refused('assignApprovalPolicy', 400, { body: elsewhere });
  await refused('assignApprovalPolicy', 400, { body: inProject(randomUUID()) });
  await refused('assignApprovalPolicy', 400, { body: { ...inProject(id), scope: 'BLUEPRINT' } as never });
  for (const [scope, scopeId] of [
    ['BLUEPRINT', projectId],
    ['project', projectId],
    ['ORGANIZATION', projectId],
    ['PROJECT', randomUUID()],
  ] as const)
    await refused('listAssignedApprovalPolicies', 404, { params: { scope, scopeId } });
});

test('users who may not view a project do not see what is assigned there', async () => {
  const policy = await newPolicy();
  await assign(inProject(policy.id));
  const member = await app.addKey({ [organizationId]: ['VIEW_ORGANIZATION'] });
  assert.deepEqual(await entryOf(policy.id, member), { policy, assignments: [] });
  const params = { scope: 'PROJECT', scopeId: projectId };
  await refused('listAssignedApprovalPolicies', 403, { params, as: member });
  const editor = await app.addKey({ [organizationId]: ['VIEW_ORGANIZATION', 'CREATE_AND_EDIT_TEMPLATES'] });
  await refused('assignApprovalPolicy', 403, { body: inProject(policy.id), as: editor });
  const query = { id: `PROJECT#${projectId}#${policy.id}` };
  await refused('unassignApprovalPolicy', 403, { query, as: editor });
  await refused('unassignApprovalPolicies', 403, { params, as: editor });
  assert.ok((await at('PROJECT', projectId)).some(({ blueprint }) => blueprint.id === policy.id));
});

test('assignments to the template of one environment are deleted with it', async () => {
  const environment = await createIdle({ preventAutoDeploy: true });
  const { id: blueprintId } = await newPolicy();
  const body = { scope: 'BLUEPRINT', scopeId: environment.blueprintId, blueprintId } as const;
  await ok(app, 'assignApprovalPolicy', { body });
  assert.equal((await at('BLUEPRINT', environment.blueprintId)).length, 1);
  await ok(app, 'deleteEnvironment', { id: environment.id });
  const rows = await sql('select from flow_assignment where template_id = $1', blueprintId);
  assert.equal(rows.length, 0);
});

test('without the program opa, creating and assigning a policy warns what to install', async () => {
  const other = await testApp({ ENVARIUM_OPA: '/nowhere/opa' });
  const problem =
    /^ENVARIUM_OPA names \/nowhere\/opa, which this service cannot execute: install opa on the machine/;
  const engine = await ok(other, 'getPolicyEngine');
  assert.equal(engine.isAvailable, false);
  assert.match(engine.problem ?? '', problem);
  const created = await call(other, 'createApprovalPolicy', {
    body: { organizationId: other.organizationId, name: 'no engine', repository },
  });
  const { id: blueprintId } = created.json<{ id: string }>();
  const assigned = await call(other, 'assignApprovalPolicy', {
    body: { scope: 'PROJECT', scopeId: other.projectId, blueprintId },
  });
  for (const { statusCode, headers } of [created, assigned]) {
    assert.equal(statusCode, 200);
    assert.match(String(headers['x-envarium-warning']), problem);
  }
});

test('with the program opa, nothing warns', async () => {
  const other = await testApp({ ENVARIUM_OPA: process.execPath });
  assert.deepEqual(await ok(other, 'getPolicyEngine'), { isAvailable: true });
  const created = await call(other, 'createApprovalPolicy', {
    body: { organizationId: other.organizationId, name: 'engine', repository },
  });
  assert.deepEqual([created.statusCode, created.headers['x-envarium-warning']], [200, undefined]);
});
