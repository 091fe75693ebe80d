/** Approvers: people and their own plans, and no one twice. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import { plannedOutcome } from '../../../../testing/agent.ts';
import { createBody } from '../../../../testing/environment.ts';
import { startAgentTests } from '../../../../testing/start.ts';
import { fireTimers } from '../../schedules/fire-timers.ts';

const tests = await startAgentTests();
const { app, agent, organizationId, ok, refused } = tests;
const { add, keyFor, createActive, deploymentOf, environmentOf, forgetWork } = tests;
beforeEach(() => forgetWork());

const [ada, ben] = await Promise.all([
  app.addKey({ [organizationId]: 'Admin' }),
  app.addKey({ [organizationId]: 'Admin' }),
]);
type Key = typeof ada;

let projects = 0;
async function projectWith(selfApprovalForbidden: boolean | null, parentProjectId?: string): Promise<string> {
  const { id: projectId } = await add(
    'Project',
    `four eyes ${++projects}`,
    parentProjectId ? { parentProjectId } : {},
  );
  await ok('updatePolicy', { body: { projectId, selfApprovalForbidden } });
  return projectId;
}

/** A waiting plan of a user. */
async function planOf(as: Key, projectId: string): Promise<string> {
  await forgetWork();
  const body = createBody({ organizationId, projectId }, { requiresApproval: true });
  const created = await ok('createEnvironmentWithoutTemplate', { body, as });
  const id = created.latestDeploymentLogId ?? assert.fail();
  await agent.finish(await agent.claim(), plannedOutcome());
  return id;
}

const approve = (id: string, as: Key) => ok('approveDeployment', { id, as });
const refusal = async (id: string, as: Key) => (await refused('approveDeployment', 409, { id, as })).message;
const excluded = async (id: string) =>
  (await deploymentOf(id)).waitingFor?.approval?.excluded?.map(({ userId, reason }) => [userId, reason]);

async function keyMadeBy(as: Key): Promise<Key> {
  const made = await ok('createApiKey', { body: { organizationId, name: 'ci' }, as });
  return { id: made.apiKeyId, secret: made.apiKeySecret };
}

test('people approve their own plans unless the policy of the project forbids it', async () => {
  const free = await planOf(ada, await projectWith(null));
  assert.deepEqual(await excluded(free), []);
  await approve(free, ada);
  const guarded = await planOf(ada, await projectWith(true));
  assert.deepEqual(await excluded(guarded), [[ada.id, 'ownPlan']]);
  assert.match(
    await refusal(guarded, ada),
    /^You started this deployment, .*Another person has to approve it$/,
  );
  assert.equal((await deploymentOf(guarded)).status, 'WAITING_FOR_USER');
  await approve(guarded, ben);
});

test('a project lets people approve their own plans again if a user with rights above allows it', async () => {
  const top = await projectWith(true);
  const middle = await projectWith(null, top);
  const open = await projectWith(false, middle);
  const below = await projectWith(null, open);
  covers('Policy', 'selfApprovalForbidden', 'isSelfApprovalForbidden');
  const shown = async (projectId: string) => {
    const { selfApprovalForbidden: own, isSelfApprovalForbidden: now } = await ok('getPolicy', {
      query: { projectId },
    });
    return [own, now];
  };
  assert.deepEqual(await Promise.all([top, middle, open, below].map(shown)), [
    [true, true],
    [undefined, true],
    [false, false],
    [undefined, false],
  ]);
  assert.match(await refusal(await planOf(ada, middle), ada), /selfApprovalForbidden/);
  await approve(await planOf(ada, open), ada);
  await approve(await planOf(ada, below), ada);
});

test('a key does not make its maker another person', async () => {
  const projectId = await projectWith(true);
  const key = await keyMadeBy(ada);
  const byHand = await planOf(ada, projectId);
  assert.match(await refusal(byHand, key), /by a key of yours/);
  const byKey = await planOf(key, projectId);
  assert.match(await refusal(byKey, key), /^You started this deployment/);
  assert.match(await refusal(byKey, ada), /by a key of yours/);
  assert.deepEqual(
    (await excluded(byKey))?.toSorted(),
    [
      [ada.id, 'ownPlan'],
      [key.id, 'ownPlan'],
    ].toSorted(),
  );
  await ok('deleteApiKey', { id: key.id, as: ben });
  assert.match(await refusal(byKey, ada), /by a key of yours/, 'also after the key is gone');
  await approve(byKey, ben);
  await approve(byHand, ben);
});

test('the plan of a scheduled deployment belongs to the user who set the schedule last', async () => {
  const projectId = await projectWith(true);
  const { id } = await createActive({ projectId });
  await ok('updateEnvironment', { id, body: { requiresApproval: true } });
  for (const as of [ben, ada])
    await ok('updateEnvironmentSchedule', {
      id,
      body: { deploy: { cron: '*/5 * * * *', enabled: true } },
      as,
    });
  const { deploy } = await ok('getEnvironmentSchedule', { id });
  const next = Date.parse(deploy?.nextSchedule ?? '');
  app.advance(Math.ceil((next - app.context.now().getTime()) / 1000) + 1);
  await fireTimers(app.context);
  await agent.finish(await agent.claim(), plannedOutcome());
  const waiting = (await environmentOf(id)).latestDeploymentLogId ?? '';
  assert.deepEqual(
    [(await deploymentOf(waiting)).isScheduledRun, await excluded(waiting)],
    [true, [[ada.id, 'ownPlan']]],
  );
  assert.match(await refusal(waiting, ada), /^This deployment was started for you/);
  await approve(waiting, ben);
});

test('the destroy at the end of a lifetime is the plan of the user who chose it, and of no one by default', async () => {
  const projectId = await projectWith(true);
  const body = { type: 'HOURS' as const, value: '1' };
  const ending = async (as: Key | null) => {
    await forgetWork();
    const { id } = await createActive({ projectId });
    await ok('updateEnvironment', { id, body: { requiresApproval: true } });
    if (as) await ok('updateEnvironmentTtl', { id, body, as });
    app.advance(3601);
    await fireTimers(app.context);
    await agent.finish(await agent.claim(), plannedOutcome());
    const waiting = (await environmentOf(id)).latestDeploymentLogId ?? '';
    const { type, trigger } = await deploymentOf(waiting);
    assert.deepEqual([type, trigger], ['destroy', 'ttl']);
    return waiting;
  };
  const chosen = await ending(ada);
  assert.deepEqual(await excluded(chosen), [[ada.id, 'ownPlan']]);
  assert.match(await refusal(chosen, ada), /^This deployment was started for you/);
  await approve(chosen, ben);
  await ok('updatePolicy', { body: { projectId, selfApprovalForbidden: true, defaultTtl: '1-h' } });
  const byDefault = await ending(null);
  assert.deepEqual(await excluded(byDefault), []);
  await approve(byDefault, ada);
});

test('a proposed lifetime belongs to its proposer, regardless of who approves it', async () => {
  const projectId = await projectWith(true);
  const { id } = await createActive({ projectId });
  const params = { id };
  const planner = await keyFor('Planner', { projectId });
  const body = { ttl: { type: 'HOURS' as const, value: '1' } };
  const proposed = await ok('deployEnvironment', { params, body, as: planner });
  await agent.finish(await agent.claim(), plannedOutcome());
  await approve(proposed.id, ben);
  await agent.apply(await agent.claim());
  await ok('updateEnvironment', { params, body: { requiresApproval: true } });
  app.advance(3601);
  await fireTimers(app.context);
  await agent.finish(await agent.claim(), plannedOutcome());
  const waiting = (await environmentOf(id)).latestDeploymentLogId ?? '';
  assert.deepEqual(await excluded(waiting), [[planner.id, 'ownPlan']]);
});

test('a downstream deployment is the plan of the user who started the upstream one', async () => {
  const projectId = await projectWith(true);
  const upstream = await createActive({ projectId, name: 'upstream' });
  const downstream = await createActive({ projectId, name: 'downstream' });
  const params = { id: downstream.id };
  await ok('updateEnvironment', { params, body: { requiresApproval: true } });
  await ok('setDownstream', { id: upstream.id, body: { downstreamEnvironmentIds: [downstream.id] } });
  await ok('deployEnvironment', { id: upstream.id, as: ada });
  await agent.run();
  await app.carryOutEffects();
  await agent.finish(await agent.claim(), plannedOutcome());
  const waiting = (await environmentOf(downstream.id)).latestDeploymentLogId ?? '';
  assert.match(await refusal(waiting, ada), /^This deployment was started for you/);
  await approve(waiting, ben);
});

test('lists say who may not approve, and until when it waits', async () => {
  covers('WaitingFor', 'approval');
  const id = await planOf(ada, await projectWith(true));
  const { environmentId, waitingFor } = await deploymentOf(id);
  const [listed] = await ok('listDeployments', { id: environmentId });
  assert.deepEqual(listed?.waitingFor, waitingFor);
  const days = app.context.settings.approvalWaitDays * 86_400_000;
  const { since, approval } = waitingFor ?? assert.fail();
  assert.equal(Date.parse(approval?.until ?? '') - Date.parse(since ?? ''), days);
  assert.deepEqual([approval?.decidedBy, approval?.missing], ['project', []]);
  await ok('cancelDeployment', { id, as: ada });
});

test('a refusal is about the plan that was read', async () => {
  const id = await planOf(ada, await projectWith(null));
  await refused('cancelDeployment', 409, /\/body\/planHash/, { id, body: { planHash: 'f'.repeat(64) } });
  const { planHash } = await deploymentOf(id);
  await ok('cancelDeployment', { id, body: { planHash } });
});
