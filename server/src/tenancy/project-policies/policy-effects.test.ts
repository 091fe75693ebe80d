import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import type { UpdatePolicyBody } from '#contract/project-policies/operations.ts';
import { emptyPlan } from '../../../testing/agent.ts';
import { createBody } from '../../../testing/environment.ts';
import { startAgentTests } from '../../../testing/start.ts';
import { fireTimers } from '../../runs/schedules/fire-timers.ts';

const tests = await startAgentTests();
const { app, agent, ok, refused, createActive, createEnvironment, createIdle, deploy, deploymentOf } = tests;
const { environmentOf, forgetWork } = tests;
beforeEach(() => forgetWork());

let named = 0;
/** A project with a policy. @returns what creates in it */
async function projectWith(policy: Omit<UpdatePolicyBody, 'projectId'>, organizationId = app.organizationId) {
  const body = { organizationId, name: `policy ${named++}` };
  const { id: projectId } = await ok('createProject', { body });
  const change = (policy: Omit<UpdatePolicyBody, 'projectId'>) =>
    ok('updatePolicy', { body: { projectId, ...policy } });
  await change(policy);
  return { inside: { organizationId, projectId }, change };
}

test('with skipApplyWhenPlanIsEmpty, a deploy whose plan is empty asks no one and applies nothing, and what is there stays', async () => {
  covers('Deployment', 'isSkippedApply');
  const { inside, change } = await projectWith({ requiresApprovalDefault: true });
  const { id } = await createEnvironment({
    ...inside,
    configurationChanges: { name: 'ENVARIUM_REQUIRES_APPROVAL', value: 'true' },
  });
  await agent.plan();
  const first = (await environmentOf(id)).latestDeploymentLogId ?? '';
  assert.equal((await deploymentOf(first)).status, 'WAITING_FOR_USER');
  await ok('approveDeployment', { id: first });
  const outputs = {
    zone: { value: 'z', type: 'string', sensitive: false },
    token: { value: 'planted-secret', type: 'string', sensitive: true },
  };
  await agent.apply(await agent.claim(), ['a'], { outputs });
  const applied = await deploymentOf(first);
  await change({ skipApplyWhenPlanIsEmpty: true });
  const skipped = await deploy(id);
  assert.equal(await agent.plan(emptyPlan), null);
  const { status, isSkippedApply } = await deploymentOf(skipped.id);
  assert.deepEqual([status, isSkippedApply], ['SUCCESS', true]);
  const partsOf = ({ output, resources, resourceCount, stateFileHash }: typeof applied) => ({
    output,
    resources,
    resourceCount,
    stateFileHash,
  });
  assert.equal(applied.resources?.length, 1);
  assert.deepEqual(partsOf(await deploymentOf(skipped.id)), partsOf(applied));
  const steps = await ok('listSteps', { params: { deploymentLogId: skipped.id } });
  assert.deepEqual(
    steps.filter((step) => step.status === 'NOT_STARTED'),
    [],
  );
  assert.equal(steps.find(({ name }) => name === 'approval:wait')?.status, 'SKIPPED');
  assert.equal((await environmentOf(id)).status, 'ACTIVE');
  const changed = await deploy(id);
  assert.equal(await agent.plan(), null);
  assert.equal((await deploymentOf(changed.id)).status, 'WAITING_FOR_USER');
});

test('a plan that changes outputs only is not empty', async () => {
  const { inside } = await projectWith({ skipApplyWhenPlanIsEmpty: true, requiresApprovalDefault: false });
  const { id } = await createEnvironment(inside);
  const apply = await agent.plan({ ...emptyPlan, hasChanges: true });
  assert.ok(apply, 'the first deployment is applied');
  const outputs = { zone: { value: 'z', type: 'string', sensitive: false } };
  await agent.apply(apply, [], { outputs });
  const { latestDeploymentLog: latest } = await environmentOf(id);
  assert.deepEqual([latest?.status, latest?.isSkippedApply], ['SUCCESS', undefined]);
  assert.deepEqual(Object.keys(latest?.output ?? {}), ['zone']);
});

test('a first deployment is applied, and after a destroy a skipped apply leaves nothing', async () => {
  const { inside } = await projectWith({ skipApplyWhenPlanIsEmpty: true, requiresApprovalDefault: false });
  const first = await createEnvironment(inside);
  // Its state may be in a backend of its own, with resources.
  await agent.run(['a'], emptyPlan);
  const { latestDeploymentLog: latest } = await environmentOf(first.id);
  assert.deepEqual([latest?.status, latest?.isSkippedApply], ['SUCCESS', undefined]);
  const destroyed = await createActive({ ...inside, requiresApproval: false });
  await ok('destroyEnvironment', { id: destroyed.id });
  await agent.run();
  await deploy(destroyed.id);
  assert.equal(await agent.plan(emptyPlan), null);
  const { latestDeploymentLog: skipped } = await environmentOf(destroyed.id);
  assert.deepEqual(
    [skipped?.status, skipped?.isSkippedApply, skipped?.output, skipped?.resources ?? []],
    ['SUCCESS', true, {}, []],
  );
});

test('without skipApplyWhenPlanIsEmpty, a plan without changes is approved and applied like any other', async () => {
  const { inside } = await projectWith({});
  const { id } = await createActive(inside);
  const { id: deployment } = await deploy(id);
  await agent.run(['a'], emptyPlan);
  const { status, isSkippedApply } = await deploymentOf(deployment);
  assert.deepEqual([status, isSkippedApply], ['SUCCESS', undefined]);
});

test('lifetimes are those of the project, or with inherit those of its organization', async () => {
  const { id: organizationId } = await ok('createOrganization', { body: { name: 'Short lives' } });
  await ok('updateOrganizationPolicies', { id: organizationId, body: { maxTtl: '3-d', defaultTtl: '6-h' } });
  const { inside, change } = await projectWith({ maxTtl: 'inherit', defaultTtl: 'inherit' }, organizationId);
  const as = await app.addKey({ [organizationId]: 'User' }, [
    {
      ...inside,
      role: [
        'VIEW_PROJECT',
        'VIEW_ENVIRONMENT',
        'RUN_PLAN',
        'CREATE_VCS_ENVIRONMENT',
        'EDIT_ENVIRONMENT_SETTINGS',
      ],
    },
  ]);
  const create = (more: object = {}) => ({
    body: createBody(inside as typeof app, { preventAutoDeploy: true, ...more }),
    as,
  });
  const hoursOf = async (more: object = {}) => {
    const made = await ok('createEnvironmentWithoutTemplate', create(more));
    return made.lifespanEndAt === null
      ? null
      : Math.round((Date.parse(made.lifespanEndAt) - Date.parse(made.createdAt ?? '')) / 3_600_000);
  };
  const refusal = async (hours: string) =>
    (await refused('createEnvironmentWithoutTemplate', 400, create({ ttl: { type: 'HOURS', value: hours } })))
      .message;
  assert.equal(await hoursOf(), 6);
  assert.match(await refusal('73'), /\/body\/ttl ends at .* 3-d \(maxTtl of the organization's policy\)/);
  await change({ maxTtl: '1-d', defaultTtl: '2-h' });
  assert.equal(await hoursOf(), 2);
  assert.match(await refusal('25'), /\/body\/ttl ends at .* 1-d \(maxTtl of the project's policy\)/);
  await change({ maxTtl: '1-w', defaultTtl: null });
  assert.equal(await hoursOf(), 168);
  assert.equal(await hoursOf({ ttl: { type: 'HOURS', value: '73' } }), 73);
  await change({ maxTtl: null, defaultTtl: null });
  assert.equal(await hoursOf(), null);
  const { id } = await ok('createEnvironmentWithoutTemplate', create());
  await change({ maxTtl: '2-h', defaultTtl: '1-h' });
  const late = { id, body: { type: 'HOURS', value: '3' }, as } as const;
  await refused('updateEnvironmentTtl', 400, /2-h \(maxTtl of the project/, late);
  const inDeploy = { id, body: { ttl: { type: 'INFINITE' } }, as } as const;
  await refused('deployEnvironment', 400, /\/body\/ttl must not be INFINITE/, inDeploy);
});

test('the first deployment asks for approval as the policy says, unless the request does', async () => {
  const asks = async (inside: object, more: object = {}) =>
    (await createIdle({ ...inside, ...more })).requiresApproval;
  const { inside, change } = await projectWith({ requiresApprovalDefault: false });
  assert.equal(await asks(inside), false);
  assert.equal(await asks(inside, { requiresApproval: true }), true);
  assert.equal(await asks(inside, { deployRequest: { userRequiresApproval: true } }), true);
  const { id } = await createEnvironment(inside);
  assert.ok(await agent.plan(), 'the apply follows at once');
  await change({ requiresApprovalDefault: true });
  assert.equal(await asks(inside), true);
  assert.equal((await environmentOf(id)).requiresApproval, false, 'existing ones stay as they are');
  assert.equal(await asks(inside, { requiresApproval: false }), false);
});

test('new environments get the settings of the policy where the request has none', async () => {
  const { inside, change } = await projectWith({
    continuousDeploymentDefault: true,
    runPullRequestPlanDefault: true,
    vcsPrCommentsEnabledDefault: true,
  });
  const settings = async (more: object = {}) => {
    const made = await createIdle({ ...inside, ...more });
    return [made.continuousDeployment, made.pullRequestPlanDeployments, made.vcsPrCommentsEnabled];
  };
  assert.deepEqual(await settings(), [true, true, true]);
  assert.deepEqual(
    await settings({
      continuousDeployment: false,
      pullRequestPlanDeployments: false,
      vcsPrCommentsEnabled: false,
    }),
    [false, false, false],
  );
  await change({});
  assert.deepEqual(await settings(), [false, false, undefined]);
});

test('with forceRemoteBackend, the service stores the states of all new environments', async () => {
  const { inside } = await projectWith({ forceRemoteBackend: true, requiresApprovalDefault: false });
  const { id, isRemoteBackend } = await createIdle(inside);
  assert.equal(isRemoteBackend, true);
  await deploy(id);
  assert.equal((await agent.claim()).state.isForced, true);
  const body = createBody(inside as typeof app, { isRemoteBackend: false });
  const message = /\/body\/isRemoteBackend must be true or absent: .*forceRemoteBackend/;
  await refused('createEnvironmentWithoutTemplate', 400, message, { body });
  const update = { id, body: { isRemoteBackend: false } };
  await refused('updateEnvironment', 400, message, update);
  await createIdle({ ...inside, isRemoteApplyEnabled: true });
});

test('new environments get the schedule of drift detection of the policy', async () => {
  const { inside, change } = await projectWith({
    driftDetectionEnabled: true,
    driftDetectionCron: '15 4 * * *',
    autoDriftRemediation: 'CODE_TO_CLOUD',
  });
  const scheduleOf = async (more: object = {}) => {
    const { id } = await createIdle({ ...inside, ...more });
    const { enabled, cron, autoDriftRemediation } = await ok('getDriftSchedule', { id });
    return { enabled, cron, autoDriftRemediation };
  };
  const expected = { enabled: true, cron: '15 4 * * *', autoDriftRemediation: 'CODE_TO_CLOUD' };
  assert.deepEqual(await scheduleOf(), expected);
  assert.deepEqual(await scheduleOf({ driftDetectionRequest: { enabled: false, cron: '0 5 * * *' } }), {
    ...expected,
    enabled: false,
    cron: '0 5 * * *',
  });
  await change({ driftDetectionEnabled: false, driftDetectionCron: '15 4 * * *' });
  assert.deepEqual(await scheduleOf(), { enabled: false, cron: '', autoDriftRemediation: undefined });
  await change({ autoDriftRemediation: 'CODE_TO_CLOUD' });
  assert.deepEqual(await scheduleOf(), { enabled: false, cron: '', autoDriftRemediation: 'CODE_TO_CLOUD' });
});

test('an expired environment is destroyed with its last code, or with the newest where the policy forces that', async () => {
  const { inside, change } = await projectWith({});
  const commitsOf = async () => {
    const { id } = await createActive({ ...inside, ttl: { type: 'HOURS', value: '1' } });
    app.advance(2 * 3600);
    await fireTimers(app.context);
    const job = await agent.claim();
    assert.equal((await environmentOf(id)).status, 'DESTROY_IN_PROGRESS');
    return [job.type, job.source.revision];
  };
  assert.deepEqual(await commitsOf(), ['destroy', 'c'.repeat(40)]);
  await forgetWork();
  await change({ forceCheckoutOnTtlDestroy: true });
  const [type, revision] = await commitsOf();
  assert.deepEqual([type, revision], ['destroy', undefined]);
});

test('with disableDestroyEnvironments, nothing is destroyed: neither on request, nor at its end, nor by a schedule', async () => {
  const { inside, change } = await projectWith({ defaultTtl: '1-d', maxTtl: '1-d' });
  const { id } = await createActive(inside);
  const other = await createIdle(inside);
  await ok('updateEnvironmentSchedule', {
    id: other.id,
    body: { deploy: { cron: '0 6 * * *' }, destroy: { cron: '0 20 * * *' } },
  });
  const others = await createActive({ ttl: { type: 'HOURS', value: '1' } });
  assert.ok((await environmentOf(id)).lifespanEndAt);
  await change({ defaultTtl: '1-d', maxTtl: '1-d', disableDestroyEnvironments: true });
  assert.equal((await environmentOf(id)).lifespanEndAt, null);
  const { deploy: kept, destroy } = await ok('getEnvironmentSchedule', { id: other.id });
  assert.deepEqual([kept?.enabled, destroy], [true, undefined]);
  const message = /disableDestroyEnvironments/;
  const refusal = await refused('destroyEnvironment', 409, { id });
  assert.match(refusal.message, /cannot be destroyed: .*disableDestroyEnvironments.* Archive/);
  await refused('updateEnvironmentTtl', 400, message, { id, body: { type: 'HOURS', value: '2' } });
  const schedule = { id, body: { destroy: { cron: '0 20 * * *' } } };
  await refused('updateEnvironmentSchedule', 400, message, schedule);
  assert.equal((await createIdle(inside)).lifespanEndAt, null);
  const moved = await ok('moveEnvironment', { id: others.id, body: { projectId: inside.projectId } });
  assert.equal((await environmentOf(moved.id ?? '')).lifespanEndAt, null);
  const events = await ok('listAuditEvents', {
    query: { organizationId: app.organizationId, environmentId: id, action: 'environment.ttlUpdated' },
  });
  assert.match(JSON.stringify(events.events[0]), message);
  const never = await refused('destroyEnvironment', 400, { id: other.id });
  assert.match(never.message, /never deployed/, 'clients take 400 for "there is nothing"');
  await change({});
  await ok('destroyEnvironment', { id });
});
