import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { Right } from '#contract/schema/enumerations.ts';
import { createBody } from '../../../testing/environment.ts';
import { startAgentTests } from '../../../testing/start.ts';
import type { FirstKey } from '../../start/bootstrap.ts';

const tests = await startAgentTests();
const { app, agent, call, ok, refused } = tests;
const { keyFor, createActive, createIdle, deploy, environmentOf, forgetWork } = tests;
beforeEach(() => forgetWork());

const userRights = [
  'VIEW_PROJECT',
  'VIEW_ENVIRONMENT',
  'RUN_PLAN',
  'RUN_APPLY',
  'CREATE_VCS_ENVIRONMENT',
] as const;

let named = 0;
/** A project with this policy, and the way to create in it. */
async function projectWith(policy: object) {
  const { organizationId } = app;
  const body = { organizationId, name: `limits ${named++}` };
  const { id: projectId } = await ok('createProject', { body });
  const setPolicy = (policy: object) => ok('updatePolicy', { body: { projectId, ...policy } });
  await setPolicy(policy);
  const userKey = (more: readonly Right[] = []) =>
    app.addKey({ [organizationId]: 'User' }, [{ organizationId, projectId, role: [...userRights, ...more] }]);
  const create = (as?: FirstKey, more: object = {}) =>
    call('createEnvironmentWithoutTemplate', {
      body: createBody({ organizationId, projectId }, more),
      ...(as ? { as } : {}),
    });
  return { projectId, setPolicy, userKey, create, inside: { organizationId, projectId } };
}

const limitsOf = (projectId: string, as?: FirstKey) =>
  ok('checkPolicyLimits', { query: { projectId }, ...(as ? { as } : {}) });

test('a project has no more active environments than its policy allows, regardless of who creates them', async () => {
  const { projectId, create, setPolicy } = await projectWith({ numberOfEnvironmentsTotal: 1 });
  assert.deepEqual(await limitsOf(projectId), {
    warnings: { total: false, user: false },
    total: 0,
    user: 0,
  });
  assert.equal((await create()).statusCode, 200);
  const second = await create();
  assert.equal(second.statusCode, 409);
  assert.match(second.body, /allows 1 active environment \(numberOfEnvironmentsTotal\), and it has 1/);
  assert.deepEqual(await limitsOf(projectId), {
    warnings: { total: true, user: false },
    total: 1,
    user: 1,
  });
  await setPolicy({ numberOfEnvironmentsTotal: 2 });
  assert.equal((await create()).statusCode, 200);
});

test('two environments that are created at once do not exceed the limit together', async () => {
  const { create, projectId } = await projectWith({ numberOfEnvironmentsTotal: 3 });
  const statuses = (await Promise.all(Array.from({ length: 8 }, () => create()))).map(
    (each) => each.statusCode,
  );
  assert.deepEqual(statuses.toSorted(), [200, 200, 200, 409, 409, 409, 409, 409]);
  assert.equal((await limitsOf(projectId)).total, 3);
});

test('an environment without resources does not count until it is deployed', async () => {
  const { inside, projectId } = await projectWith({ numberOfEnvironmentsTotal: 1 });
  const [first, second] = [await createIdle(inside), await createIdle(inside)];
  assert.equal((await limitsOf(projectId)).total, 0);
  await deploy(first.id);
  await refused('deployEnvironment', 409, /numberOfEnvironmentsTotal/, { id: second.id });
  await deploy(first.id);
  await ok('deployEnvironment', { id: second.id, body: { deploymentType: 'dryRun' } });
  await refused('deployEnvironment', 409, { id: second.id });
});

test('an environment that is destroyed or archived makes room, and needs it again to return', async () => {
  const { inside } = await projectWith({ numberOfEnvironmentsTotal: 1 });
  const { id } = await createActive(inside);
  await ok('updateEnvironment', { id, body: { isArchived: true } });
  const other = await createActive(inside);
  const restore = { id, body: { isArchived: false } };
  await refused('updateEnvironment', 409, /numberOfEnvironmentsTotal/, restore);
  await refused('deployEnvironment', 409, /Total/, { id });
  await ok('destroyEnvironment', { id: other.id });
  await agent.run([]);
  assert.equal((await environmentOf(other.id)).status, 'INACTIVE');
  await ok('updateEnvironment', restore);
  await refused('deployEnvironment', 409, /Total/, { id: other.id });
});

test('an active environment moves only to a project that has room for it', async () => {
  const { projectId, setPolicy } = await projectWith({ numberOfEnvironmentsTotal: 0 });
  const { id } = await createActive();
  const idle = await createIdle();
  const move = (id: string) => ({ id, body: { projectId } });
  await refused('moveEnvironment', 409, /numberOfEnvironmentsTotal/, move(id));
  await ok('moveEnvironment', move(idle.id));
  await setPolicy({ numberOfEnvironmentsTotal: 1 });
  assert.equal((await ok('moveEnvironment', move(id))).projectId, projectId);
});

test('each user has environments of their own to count, and admins have no limit', async () => {
  const { create, userKey, projectId } = await projectWith({ numberOfEnvironments: 1 });
  const [ada, bob] = [await userKey(), await userKey()];
  assert.equal((await create(ada)).statusCode, 200);
  const refusal = await create(ada);
  assert.equal(refusal.statusCode, 409);
  assert.match(
    refusal.body,
    /allows each user 1 active environment \(numberOfEnvironments\), and you have 1/,
  );
  assert.deepEqual((await limitsOf(projectId, ada)).warnings, { total: false, user: true });
  assert.equal((await create(bob)).statusCode, 200);
  const admin = await keyFor('Admin', { projectId });
  for (const as of [undefined, admin, await userKey(['OVERRIDE_MAX_ENVIRONMENT_PROJECT_LIMITS'])])
    for (const status of [200, 200]) assert.equal((await create(as)).statusCode, status);
  assert.deepEqual((await limitsOf(projectId, admin)).warnings, { total: false, user: false });
});

test('who deploys the environment of another user is held to the limit of its owner', async () => {
  const { create, userKey, inside } = await projectWith({ numberOfEnvironments: 1 });
  const [ada, bob] = [await userKey(), await userKey()];
  assert.equal((await create(ada)).statusCode, 200);
  const idle = (await create(ada, { preventAutoDeploy: true })).json<{ id: string }>();
  const input = { id: idle.id, body: {} };
  await refused('deployEnvironment', 409, /the owner of this one has 1/, { ...input, as: bob });
  const ofAdmin = [await createIdle(inside), await createIdle(inside)];
  for (const { id } of ofAdmin) await ok('deployEnvironment', { id, body: {}, as: bob });
  await ok('deployEnvironment', input);
});
