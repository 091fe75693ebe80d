/** Approvals that a project, an organization or an approval policy demands, and who may lift them. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { demandTests, off } from '../../../../testing/demands.ts';
import { createBody } from '../../../../testing/environment.ts';
import { says, startPolicyTests } from '../../../../testing/guarded.ts';

const tests = await startPolicyTests();
const { app, agent, needsOpa, organizationId, call, ok, refused } = tests;
const { keyFor, environmentOf, forgetWork, newPolicy, assign } = tests;
beforeEach(() => forgetWork());

const { projectIn, deployerIn, adminIn, fourEyes, idleIn, variableOf, outcomeOf } = demandTests({
  app,
  agent,
});
type Key = Awaited<ReturnType<typeof deployerIn>>;

test('no request of a Deployer lifts what the project demands', async () => {
  const { projectId, deployer } = await fourEyes();
  const { id } = await idleIn(projectId, { requiresApproval: true });
  const message = /EDIT_PROJECT_SETTINGS/;
  const params = { id };
  const refusals = [
    await refused('deployEnvironment', 403, { params, body: { userRequiresApproval: false }, as: deployer }),
    await refused('deployEnvironment', 403, { params, body: { configurationChanges: off }, as: deployer }),
    await refused('updateEnvironment', 403, { params, body: { requiresApproval: false }, as: deployer }),
    await refused('saveVariables', 403, { body: variableOf(id, 'false'), as: deployer }),
  ];
  for (const each of refusals) assert.match(each.message, message);
  const owner = await keyFor(['CREATE_VCS_ENVIRONMENT', 'RUN_APPLY', 'RUN_PLAN', 'VIEW_PROJECT'], {
    projectId,
  });
  const created = await refused('createEnvironmentWithoutTemplate', 403, {
    body: createBody({ organizationId, projectId }, { requiresApproval: false }),
    as: owner,
  });
  assert.match(created.message, message);
  assert.match(created.message, /\/body\/requiresApproval false/);
  const own = { requiresApproval: true, deployRequest: { userRequiresApproval: false } };
  const first = await refused('createEnvironmentWithoutTemplate', 403, {
    body: createBody({ organizationId, projectId }, own),
    as: owner,
  });
  assert.match(first.message, /\/body\/deployRequest\/userRequiresApproval false/);
  assert.deepEqual(await outcomeOf(id, deployer), ['WAITING_FOR_USER', 'project']);
});

test('what a Deployer switched off before the project demanded approvals does not last', async () => {
  const projectId = await projectIn();
  const deployer = await deployerIn(projectId);
  const byVariable = await idleIn(projectId, { requiresApproval: true });
  await ok('saveVariables', { body: variableOf(byVariable.id, 'false'), as: deployer });
  const bySetting = await idleIn(projectId, { requiresApproval: true });
  await ok('updateEnvironment', { id: bySetting.id, body: { requiresApproval: false }, as: deployer });
  await ok('updatePolicy', {
    body: { projectId, selfApprovalForbidden: true, requiresApprovalDefault: true },
  });
  assert.deepEqual(await outcomeOf(byVariable.id, deployer), ['WAITING_FOR_USER', 'project']);
  assert.deepEqual(await outcomeOf(bySetting.id, deployer), ['WAITING_FOR_USER', 'project']);
  assert.deepEqual(await outcomeOf(bySetting.id, deployer, { userRequiresApproval: false }), [
    'WAITING_FOR_USER',
    'project',
  ]);
});

test('a user who may edit the settings of the project lifts it, for others, too', async () => {
  const { projectId, deployer } = await fourEyes();
  const admin = await adminIn(projectId);
  const { id } = await idleIn(projectId, { requiresApproval: true });
  await ok('updateEnvironment', { id, body: { requiresApproval: false }, as: admin });
  assert.deepEqual(await outcomeOf(id, deployer), ['IN_PROGRESS', undefined]);
  assert.deepEqual(await outcomeOf(id, deployer, { userRequiresApproval: false }), [
    'IN_PROGRESS',
    undefined,
  ]);
  assert.equal((await environmentOf(id)).requiresApproval, false);
});

test('a lower project does not lift what one above demands', async () => {
  const { projectId: above } = await fourEyes();
  const below = await projectIn(above);
  const admin = await adminIn(below);
  const allowed = { projectId: below, selfApprovalForbidden: false };
  await refused('updatePolicy', 403, /selfApprovalForbidden false needs the right EDIT_PROJECT_SETTINGS/, {
    body: allowed,
    as: admin,
  });
  const { id } = await idleIn(below, { requiresApproval: true });
  await refused('updateEnvironment', 403, { id, body: { requiresApproval: false }, as: admin });
  await ok('updatePolicy', { body: allowed });
  await ok('updateEnvironment', { id, body: { requiresApproval: false }, as: admin });
});

test('a variable below does not lift what one above demands, whatever its value', async () => {
  const above = await projectIn();
  const below = await projectIn(above);
  const deployer = await deployerIn(below);
  const { id } = await idleIn(below, { requiresApproval: false });
  const admin = await adminIn(below);
  const set = (value: string, as: Key) => call('saveVariables', { body: variableOf(id, value), as });
  assert.equal((await set('no', deployer)).statusCode, 200);
  await ok('saveVariables', { body: variableOf(above, 'true', 'PROJECT') });
  assert.deepEqual(await outcomeOf(id, deployer), ['WAITING_FOR_USER', 'variable']);
  for (const value of ['false', 'other']) assert.equal((await set(value, admin)).statusCode, 403, value);
  await ok('deployEnvironment', { id, body: { configurationChanges: off } });
});

test(
  'a variable lifts what a policy demands only with the right where it is assigned',
  needsOpa,
  async () => {
    const projectId = await projectIn();
    const deployer = await deployerIn(projectId);
    const { id } = await idleIn(projectId, { requiresApproval: false });
    await ok('saveVariables', { body: variableOf(id, 'false'), as: deployer });
    const policy = await newPolicy(says('pending', 'a person has to look'));
    await assign(policy.id, 'PROJECT', projectId);
    assert.deepEqual(await outcomeOf(id, deployer), ['WAITING_FOR_USER', 'policy']);
    const again = { id, body: { configurationChanges: [{ ...off[0], value: 'true' }] } };
    await ok('deployEnvironment', { ...again, as: deployer });
    await forgetWork();
    await refused('deployEnvironment', 403, { id, body: { configurationChanges: off }, as: deployer });
  },
);

test('policies below do not allow what a project above demands', needsOpa, async () => {
  const { projectId: above } = await fourEyes();
  const below = await projectIn(above);
  const deployer = await deployerIn(below);
  const { id } = await idleIn(below, { requiresApproval: true });
  const policy = await newPolicy(says('allow', 'all is well'));
  await assign(policy.id, 'PROJECT', below);
  assert.deepEqual(await outcomeOf(id, deployer), ['WAITING_FOR_USER', 'project']);
  await assign(policy.id, 'PROJECT', above);
  assert.deepEqual(await outcomeOf(id, deployer), ['IN_PROGRESS', undefined]);
});

test('policies below do not allow what one above says nothing about', needsOpa, async () => {
  const above = await projectIn();
  const below = await projectIn(above);
  const [deployer, admin] = [await deployerIn(below), await adminIn(below)];
  const { id, blueprintId } = await idleIn(below, { requiresApproval: false });
  const silent = await newPolicy('package envarium\ndeny contains "a reason" if input.none');
  await assign(silent.id, 'PROJECT', above);
  const allowing = await newPolicy(says('allow', 'all is well'));
  const body = { scope: 'BLUEPRINT' as const, scopeId: blueprintId, blueprintId: allowing.id };
  await ok('assignApprovalPolicy', { body, as: admin });
  const waits = ['WAITING_FOR_USER', 'policy'];
  assert.deepEqual(await outcomeOf(id, deployer), waits, 'of the template of the environment');
  await assign(allowing.id, 'PROJECT', below);
  assert.deepEqual(await outcomeOf(id, deployer), waits, 'of the project below');
  await assign(allowing.id, 'PROJECT', above);
  await assign(silent.id, 'ORGANIZATION', organizationId);
  assert.deepEqual(await outcomeOf(id, deployer), waits, 'below the organization, which demands it, too');
  await ok('unassignApprovalPolicies', { params: { scope: 'ORGANIZATION', scopeId: organizationId } });
  assert.deepEqual(await outcomeOf(id, deployer), ['IN_PROGRESS', undefined]);
});

test('an environment is not moved away from what demands approvals', async () => {
  const { projectId } = await fourEyes();
  const target = await projectIn();
  const { id } = await idleIn(projectId, { requiresApproval: true });
  const mover = ['MOVE_ENVIRONMENTS', 'VIEW_ENVIRONMENT'] as const;
  const as = await app.addKey({ [organizationId]: 'User' }, [
    { organizationId, projectId, role: mover },
    { organizationId, projectId: target, role: mover },
  ]);
  const move = { id, body: { projectId: target } };
  const { message } = await refused('moveEnvironment', 403, { ...move, as });
  assert.match(message, /away from what demands approvals needs the right EDIT_PROJECT_SETTINGS/);
  await ok('moveEnvironment', move);
});
