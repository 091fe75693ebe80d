/** Each way to take away an approval that is demanded above, by people who may not. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { demandTests } from '../../../../testing/demands.ts';
import { createBody } from '../../../../testing/environment.ts';
import { fieldOf } from '../../../../testing/fields.ts';
import { says, startPolicyTests } from '../../../../testing/guarded.ts';

const tests = await startPolicyTests();
const { app, agent, needsOpa, organizationId, ok, refused, sql } = tests;
const { deploymentOf, forgetWork, newPolicy, assign } = tests;
beforeEach(() => forgetWork());

const demands = demandTests({ app, agent });
const { projectIn, keyIn, deployerIn, adminIn, forbid, fourEyes, idleIn, templateFor, variableOf } = demands;
const { outcome, outcomeOf } = demands;

const waitsForProject = ['WAITING_FOR_USER', 'project'];
const isApplied = ['IN_PROGRESS', undefined];
const right = /needs the right EDIT_PROJECT_SETTINGS/;

test('a demand of a lower project does not replace the one above it', async () => {
  const { projectId: above } = await fourEyes();
  const below = await projectIn(above);
  const admin = await adminIn(below);
  await forbid(below, true, admin);
  const { id } = await idleIn(below, { requiresApproval: true });
  const params = { id };
  const refusals = [
    await refused('updateEnvironment', 403, { params, body: { requiresApproval: false }, as: admin }),
    await refused('saveVariables', 403, { body: variableOf(id, 'false'), as: admin }),
    await refused('deployEnvironment', 403, { params, body: { userRequiresApproval: false }, as: admin }),
  ];
  for (const { message } of refusals) assert.match(message, right);
  assert.deepEqual(await outcomeOf(id, admin), waitsForProject);
});

test('what a lower project allowed before one above demanded approvals does not last', async () => {
  const above = await projectIn();
  const below = await projectIn(above);
  const admin = await adminIn(below);
  await forbid(below, false, admin);
  const { id } = await idleIn(below, { requiresApproval: false }, admin);
  await forbid(above, true);
  assert.deepEqual(await outcomeOf(id, admin), waitsForProject);
  const { isSelfApprovalForbidden } = await ok('getPolicy', { query: { projectId: below } });
  assert.equal(isSelfApprovalForbidden, true);
  await forbid(below, false);
  assert.deepEqual(await outcomeOf(id, admin), waitsForProject, 'who repeats it does not take it over');
  await forbid(below, null);
  await forbid(below, false);
  assert.deepEqual(await outcomeOf(id, admin), isApplied);
});

test("one's own plan cannot be approved where only a lower project allows it", async () => {
  const above = await projectIn();
  const below = await projectIn(above);
  const admin = await adminIn(below);
  await forbid(below, false, admin);
  const created = await ok('createEnvironmentWithoutTemplate', {
    body: createBody({ organizationId, projectId: below }, { requiresApproval: true }),
    as: admin,
  });
  await agent.plan();
  await forbid(above, true);
  const id = created.latestDeploymentLogId ?? '';
  const { waitingFor } = await deploymentOf(id);
  assert.deepEqual(waitingFor?.approval?.excluded, [{ userId: admin.id, reason: 'ownPlan' }]);
  await refused('approveDeployment', 409, { id, as: admin });
});

test(
  'a policy of a template allows what the project of the template demands, if a user with the right assigned it',
  needsOpa,
  async () => {
    const { projectId: above, deployer } = await fourEyes();
    const below = await projectIn(above);
    const admin = await adminIn(below);
    const own = await idleIn(below, { requiresApproval: true });
    const policy = await newPolicy(says('allow', 'all is well'));
    const give = (scopeId: string, as?: Awaited<ReturnType<typeof adminIn>>) =>
      ok('assignApprovalPolicy', {
        body: { scope: 'BLUEPRINT', scopeId, blueprintId: policy.id },
        ...(as ? { as } : {}),
      });
    await give(own.blueprintId, admin);
    assert.deepEqual(await outcomeOf(own.id, admin), waitsForProject, 'a template of one environment below');
    const made = await keyIn(above, ['CREATE_AND_EDIT_TEMPLATES', 'VIEW_PROJECT']);
    const { id: direct, blueprintId } = await idleIn(above, { requiresApproval: true });
    await ok('setEnvironmentTemplate', { id: direct, body: { newName: `shared ${direct}` } });
    await give(blueprintId, made);
    assert.deepEqual(await outcomeOf(direct, deployer), waitsForProject, 'no right to the settings');
    await ok('unassignApprovalPolicies', { params: { scope: 'BLUEPRINT', scopeId: blueprintId } });
    await give(blueprintId);
    assert.deepEqual(await outcomeOf(direct, deployer), isApplied);
  },
);

test(
  'a policy of a template allows what another one of the same template leaves to people, regardless of who assigned it',
  needsOpa,
  async () => {
    const projectId = await projectIn();
    const editor = await keyIn(projectId, ['CREATE_AND_EDIT_TEMPLATES', 'VIEW_PROJECT']);
    const deployer = await deployerIn(projectId);
    const { id, blueprintId } = await idleIn(projectId, { requiresApproval: false });
    await ok('setEnvironmentTemplate', { id, body: { newName: `shared ${id}` } });
    const silent = await newPolicy('package envarium');
    await assign(silent.id, 'BLUEPRINT', blueprintId);
    const allowing = await newPolicy(says('allow', 'all is well'));
    const body = { scope: 'BLUEPRINT' as const, scopeId: blueprintId, blueprintId: allowing.id };
    await ok('assignApprovalPolicy', { body, as: editor });
    assert.deepEqual(await outcomeOf(id, deployer), isApplied);
  },
);

test(
  'what a policy of a template of a project demands is lifted with the right in that project',
  needsOpa,
  async () => {
    const projectId = await projectIn();
    const [deployer, admin] = [await deployerIn(projectId), await adminIn(projectId)];
    const { id, blueprintId } = await idleIn(projectId, { requiresApproval: false });
    const policy = await newPolicy(says('pending', 'a person has to look'));
    await assign(policy.id, 'BLUEPRINT', blueprintId);
    await refused('saveVariables', 403, { body: variableOf(id, 'false'), as: deployer });
    await ok('saveVariables', { body: variableOf(id, 'false'), as: admin });
    assert.deepEqual(await outcomeOf(id, deployer), isApplied);
  },
);

test(
  'a policy that is assigned while a deploy is queued is not lifted by the variable, next to an earlier one',
  needsOpa,
  async () => {
    const above = await projectIn();
    const below = await projectIn(above);
    const [deployer, admin] = [await deployerIn(below), await adminIn(below)];
    const { id } = await idleIn(below, { requiresApproval: false });
    const policy = await newPolicy(says('pending', 'a person has to look'));
    await assign(policy.id, 'PROJECT', below);
    await ok('saveVariables', { body: variableOf(id, 'false'), as: admin });
    const deploy = () => ok('deployEnvironment', { id, as: deployer });
    await deploy();
    const first = await agent.claim();
    const queued = await deploy();
    assert.equal(queued.status, 'QUEUED');
    await assign(policy.id, 'PROJECT', above);
    const finishedAt = new Date().toISOString();
    await agent.finish(first, { result: 'failed', finishedAt, error: { message: 'does not parse' } });
    assert.deepEqual(await outcome(queued.id), ['WAITING_FOR_USER', 'policy']);
  },
);

/** Two templates of a project: one on which something demands approvals, and one without. */
async function twoTemplates(projectId: string): Promise<[demanding: string, free: string]> {
  return [await templateFor([projectId]), await templateFor([projectId])];
}

const fromTemplate = async (projectId: string, blueprintId: string, more: object = {}) =>
  ok('createEnvironment', {
    body: { name: 'network', projectId, preventAutoDeploy: true, deployRequest: { blueprintId }, ...more },
  });

test(
  'policies of the template that runs are not lifted by a variable that was set for another one',
  needsOpa,
  async () => {
    const projectId = await projectIn();
    const deployer = await deployerIn(projectId);
    const [demanding, free] = await twoTemplates(projectId);
    const policy = await newPolicy(says('pending', 'a person has to look'));
    await assign(policy.id, 'BLUEPRINT', demanding);
    const { id } = await fromTemplate(projectId, free, { requiresApproval: false });
    await ok('saveVariables', { body: variableOf(id, 'false'), as: deployer });
    assert.deepEqual(await outcomeOf(id, deployer, { blueprintId: demanding }), [
      'WAITING_FOR_USER',
      'policy',
    ]);
  },
);

test(
  'a destroy that runs the template before is not lifted by a variable that was set later',
  needsOpa,
  async () => {
    const projectId = await projectIn();
    const deployer = await deployerIn(projectId);
    const [demanding, free] = await twoTemplates(projectId);
    const { id } = await fromTemplate(projectId, demanding, { requiresApproval: false });
    assert.deepEqual(await outcomeOf(id, deployer), isApplied);
    await ok('setEnvironmentTemplate', { id, body: { blueprintId: free }, as: deployer });
    await ok('saveVariables', { body: variableOf(id, 'false'), as: deployer });
    const policy = await newPolicy(says('pending', 'a person has to look'));
    await assign(policy.id, 'BLUEPRINT', demanding);
    const destroy = await ok('destroyEnvironment', { id, as: deployer });
    assert.deepEqual(await outcome(destroy.id), ['WAITING_FOR_USER', 'policy']);
  },
);

test('no one leaves a template that demands approvals without the right to lift them', async () => {
  const projectId = await projectIn();
  const deployer = await deployerIn(projectId);
  const [demanding, free] = await twoTemplates(projectId);
  const policy = await newPolicy(says('pending', 'a person has to look'));
  await assign(policy.id, 'BLUEPRINT', demanding);
  const params = { id: (await fromTemplate(projectId, demanding)).id };
  const body = { blueprintId: free };
  const refusals = [
    await refused('setEnvironmentTemplate', 403, { params, body, as: deployer }),
    await refused('deployEnvironment', 403, { params, body, as: deployer }),
  ];
  for (const { message } of refusals)
    assert.match(
      message,
      /leaving the template ".*", which demands approvals, needs the right EDIT_ORGANIZATION_SETTINGS/,
    );
  await assign(policy.id, 'BLUEPRINT', free);
  await ok('setEnvironmentTemplate', { params, body, as: deployer });
});

test('no one leaves a template whose variable demands approvals without the right to lift them', async () => {
  const projectId = await projectIn();
  const deployer = await deployerIn(projectId);
  const [demanding, free] = await twoTemplates(projectId);
  await ok('saveVariables', { body: variableOf(demanding, 'true', 'BLUEPRINT') });
  const params = { id: (await fromTemplate(projectId, demanding)).id };
  const body = { blueprintId: free };
  await refused('setEnvironmentTemplate', 403, { params, body, as: deployer });
  await ok('setEnvironmentTemplate', { params, body });
});

test('the default for new environments lifts nothing', async () => {
  const projectId = await projectIn();
  await ok('updatePolicy', { body: { projectId, selfApprovalForbidden: true } });
  const creator = await keyIn(projectId, ['CREATE_VCS_ENVIRONMENT', 'RUN_APPLY', 'RUN_PLAN', 'VIEW_PROJECT']);
  for (const more of [{}, { requiresApproval: false }]) {
    const { id, requiresApproval } = await idleIn(projectId, more, creator);
    assert.equal(requiresApproval, false);
    assert.deepEqual(await outcomeOf(id, creator), waitsForProject);
  }
  const deployer = await deployerIn(projectId);
  const { id } = await idleIn(projectId);
  assert.deepEqual(await outcomeOf(id, deployer), waitsForProject, 'regardless of who creates it');
  const asNew = { id, body: { requiresApproval: null }, as: deployer };
  for (const before of [true, false]) {
    await ok('updateEnvironment', { id, body: { requiresApproval: true } });
    await ok('updateEnvironment', { id, body: { requiresApproval: before } });
    await ok('updateEnvironment', asNew);
    assert.deepEqual(await outcomeOf(id, deployer), waitsForProject, 'as a new environment');
  }
});

test('who repeats that approvals are off does not take it over, and the trail has who did', async () => {
  const projectId = await projectIn();
  const deployer = await deployerIn(projectId);
  const key = await app.addKey({ [organizationId]: 'Admin' });
  const { id } = await idleIn(projectId, { requiresApproval: true });
  const write = (body: object, as: typeof key) => ok('updateEnvironment', { id, body, as });
  await write({ requiresApproval: false }, deployer);
  await forbid(projectId, true);
  await write({ requiresApproval: false, description: 'new' }, key);
  assert.deepEqual(await outcomeOf(id, deployer), waitsForProject);
  assert.deepEqual(await outcomeOf(id, key, { userRequiresApproval: false }), waitsForProject);
  await write({ requiresApproval: true }, key);
  await write({ requiresApproval: false }, key);
  assert.deepEqual(await outcomeOf(id, deployer), isApplied);
  const rows = await sql(
    `select after ->> 'approvalLiftedBy' as by from audit_event
      where action = 'environment.updated' and entity_id = $1 and after ? 'approvalLiftedBy' order by id`,
    id,
  );
  assert.deepEqual(fieldOf(rows, 'by'), [deployer.id, null, key.id]);
});
