import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import { plannedOutcome } from '../../../testing/agent.ts';
import { fieldOf } from '../../../testing/fields.ts';
import { startAgentTests } from '../../../testing/start.ts';
import { deployDownstream } from './deploy-downstream.ts';

const tests = await startAgentTests();
const { app, agent, organizationId, projectId, call, ok, refused, add, keyFor, createActive } = tests;
const { createEnvironment, createIdle, deploy, deploymentOf, environmentOf, forgetWork } = tests;

beforeEach(() => forgetWork());

const follow = (id: string, ...ids: string[]) =>
  ok('setDownstream', { id, body: { downstreamEnvironmentIds: ids } });
const refuseFollow = async (id: string, ids: string[], status = 400) =>
  (await refused('setDownstream', status, { id, body: { downstreamEnvironmentIds: ids } })).message;
const listed = (id: string) => ok('listDownstream', { id });

/** Deploys an environment to a good end. @returns the id of the deployment */
async function deployWell(id: string): Promise<string> {
  const { id: deployment } = await deploy(id, { userRequiresApproval: false });
  const job = await agent.claim();
  const next = await agent.finish(job, plannedOutcome());
  assert.ok(next);
  await agent.apply(next, ['a']);
  return deployment;
}

const deploymentsOf = async (id: string) => (await ok('listDeployments', { id })).map((row) => row.trigger);

test('after a successful deploy, active environments that follow are deployed, and name what caused it', async () => {
  covers('Deployment', 'causedBy', 'upstreamEnvironmentId', 'triggerName');
  const [upstream, first, second] = [
    await createActive(),
    await createActive({ name: 'app' }),
    await createActive({ name: 'dns' }),
  ];
  const stored = await follow(upstream.id, first.id, second.id);
  assert.deepEqual(
    stored.map(({ id, name, projectId: project, workspaceName, status, latestDeploymentLog }) => [
      id,
      name,
      project,
      workspaceName,
      status,
      latestDeploymentLog.blueprintName,
    ]),
    [first, second].map(({ id, name, workspaceName }) => [
      id,
      name,
      projectId,
      workspaceName,
      'ACTIVE',
      `single-use-template-for-${name}`,
    ]),
  );
  const cause = await deployWell(upstream.id);
  await app.carryOutEffects();
  for (const { id } of [first, second]) {
    const environment = await environmentOf(id);
    const made = await deploymentOf(environment.latestDeploymentLogId ?? '');
    assert.deepEqual(
      [made.type, made.status, made.triggerName, made.trigger, made.upstreamEnvironmentId, made.causedBy],
      ['deploy', 'IN_PROGRESS', 'workflow', 'workflow', upstream.id, cause],
    );
  }
  const [shown] = await listed(upstream.id);
  const last = (await environmentOf(first.id)).latestDeploymentLogId;
  assert.deepEqual([shown?.lastTrigger?.causedBy, shown?.lastTrigger?.deploymentId], [cause, last]);
});

test('what follows is followed in turn, and a client can say what its own deployment follows', async () => {
  covers('deployEnvironment', 'body.upstreamEnvironmentId');
  const [a, b, c] = [
    await createActive({ name: 'a' }),
    await createActive({ name: 'b' }),
    await createActive({ name: 'c' }),
  ];
  await follow(a.id, b.id);
  await follow(b.id, c.id);
  const own = await deploy(a.id, { triggerName: 'workflow', upstreamEnvironmentId: c.id });
  assert.deepEqual([own.upstreamEnvironmentId, own.causedBy], [c.id, undefined]);
  await agent.run();
  await app.carryOutEffects();
  const second = await agent.plan();
  await agent.apply(second ?? assert.fail('nothing follows'));
  await app.carryOutEffects();
  const last = await deploymentOf((await environmentOf(c.id)).latestDeploymentLogId ?? '');
  assert.deepEqual(
    [last.upstreamEnvironmentId, last.causedBy],
    [b.id, (await environmentOf(b.id)).latestDeploymentLogId],
  );
});

test('a destroy, a dry run and a failed deploy start nothing', async () => {
  const [upstream, other] = [await createActive(), await createActive()];
  await follow(upstream.id, other.id);
  await deploy(upstream.id, { deploymentType: 'dryRun' });
  await agent.finish(await agent.claim(), plannedOutcome());
  await deploy(upstream.id);
  const finishedAt = new Date().toISOString();
  await agent.finish(await agent.claim(), { result: 'failed', finishedAt, error: { message: 'no' } });
  await ok('destroyEnvironment', { id: upstream.id });
  await agent.run([]);
  assert.equal((await environmentOf(upstream.id)).status, 'INACTIVE');
  await app.carryOutEffects();
  assert.deepEqual(await deploymentsOf(other.id), ['user']);
});

test('locked, archived, inactive and moved environments are skipped, and the reason is kept', async () => {
  const upstream = await createActive();
  const [locked, archived, moved] = [
    await createActive({ name: 'locked' }),
    await createActive({ name: 'archived' }),
    await createActive({ name: 'moved' }),
  ];
  const idle = await createIdle({ name: 'idle' });
  await follow(upstream.id, locked.id, archived.id, moved.id, idle.id);
  await ok('setEnvironmentLock', { id: locked.id, body: { isLocked: true, reason: 'audit' } });
  await ok('updateEnvironment', { id: archived.id, body: { isArchived: true } });
  const other = await add('Project', 'other');
  await ok('moveEnvironment', { id: moved.id, body: { projectId: other.id } });
  await deployWell(upstream.id);
  await app.carryOutEffects();
  const reasons = (await listed(upstream.id)).map(({ name, lastTrigger }) => [name, lastTrigger?.reason]);
  assert.deepEqual(reasons, [
    ['locked', 'The environment is locked: audit'],
    ['archived', 'The environment is archived'],
    ['moved', 'The environment is in another project than the one upstream'],
    ['idle', 'The environment is NEVER_DEPLOYED: only active ones are deployed'],
  ]);
  const entries = await ok('listAuditEvents', { query: { organizationId } });
  assert.ok(JSON.stringify(entries).includes('environment.downstreamSkipped'));
});

test('a server that dies in between leaves nothing twice and nothing undone', async () => {
  const [upstream, other] = [await createActive(), await createActive()];
  await follow(upstream.id, other.id);
  const deploymentId = await deployWell(upstream.id);
  const payload = { deploymentId, environmentId: upstream.id };
  const again = () => deployDownstream.carryOut(app.context, payload, new AbortController().signal);
  await Promise.all([again(), again()]);
  await app.carryOutEffects();
  assert.deepEqual(await deploymentsOf(other.id), ['workflow', 'user']);
  const made = (await environmentOf(other.id)).latestDeploymentLogId;
  assert.equal((await listed(upstream.id))[0]?.lastTrigger?.deploymentId, made);
});

test('approval rules hold for what follows', async () => {
  const [upstream, other] = [await createActive(), await createActive()];
  await ok('updateEnvironment', { id: other.id, body: { requiresApproval: true } });
  await follow(upstream.id, other.id);
  await deployWell(upstream.id);
  await app.carryOutEffects();
  await agent.finish(await agent.claim(), plannedOutcome());
  assert.equal((await environmentOf(other.id)).status, 'WAITING_FOR_USER');
});

test('environments are added and removed one by one, and a second time without effect', async () => {
  const [upstream, first, second] = [
    await createIdle({ name: 'a' }),
    await createIdle({ name: 'b' }),
    await createIdle({ name: 'c' }),
  ];
  const params = { id: upstream.id };
  const body = (...ids: string[]) => ({ downstreamEnvironmentIds: ids });
  assert.equal(await ok('addDownstream', { params, body: body(first.id) }), null);
  await ok('addDownstream', { params, body: body(first.id, second.id) });
  assert.deepEqual(fieldOf(await listed(upstream.id), 'name'), ['b', 'c']);
  for (const unknown of [randomUUID(), 'x']) {
    const refusal = await refused('removeDownstream', 400, { params, body: body(first.id, unknown) });
    assert.match(refusal.message, /\/body\/downstreamEnvironmentIds\/1 does not match an environment/);
  }
  for (let time = 0; time < 2; time++) await ok('removeDownstream', { params, body: body(first.id) });
  assert.deepEqual(fieldOf(await listed(upstream.id), 'name'), ['c']);
  assert.deepEqual(await follow(upstream.id), []);
  assert.deepEqual(await follow(upstream.id), []);
});

test('cycles are refused when they are stored, with the way around', async () => {
  const [a, b, c] = [
    await createIdle({ name: 'a' }),
    await createIdle({ name: 'b' }),
    await createIdle({ name: 'c' }),
  ];
  assert.match(
    await refuseFollow(a.id, [a.id]),
    /\/body\/downstreamEnvironmentIds\/0 is the environment itself/,
  );
  await follow(a.id, b.id);
  await follow(b.id, c.id);
  assert.match(
    await refuseFollow(c.id, [a.id]),
    /\/body\/downstreamEnvironmentIds\/0 makes a cycle, .*: "c" → "a" → "b" → "c"/,
  );
  await follow(a.id);
  assert.deepEqual((await follow(c.id, a.id)).length, 1);
});

test('two requests that would make a cycle together never both succeed', async () => {
  const [a, b] = [await createIdle({ name: 'a' }), await createIdle({ name: 'b' })];
  const put = (id: string, other: string) =>
    call('setDownstream', { id, body: { downstreamEnvironmentIds: [other] } });
  const replies = await Promise.all([put(a.id, b.id), put(b.id, a.id)]);
  assert.deepEqual(replies.map(({ statusCode }) => statusCode).toSorted(), [200, 400]);
});

test('a deployment names only an environment upstream that its caller may view', async () => {
  const environment = await createIdle();
  const other = await add('Project', 'closed');
  const hidden = await createIdle({ projectId: other.id });
  const role = ['VIEW_PROJECT', 'VIEW_ENVIRONMENT', 'RUN_PLAN', 'RUN_APPLY'] as const;
  const as = await keyFor(role, { projectId }, []);
  const body = { triggerName: 'workflow', upstreamEnvironmentId: hidden.id };
  const { message } = await refused('deployEnvironment', 403, { id: environment.id, body, as });
  assert.match(message, /\/body\/upstreamEnvironmentId needs the right VIEW_ENVIRONMENT/);
});

test('what cannot be deployed by the caller, or is elsewhere, cannot follow', async () => {
  const upstream = await createIdle();
  const other = await add('Project', 'elsewhere');
  const elsewhere = await createIdle({ projectId: other.id });
  for (const id of [randomUUID(), 'x', elsewhere.id])
    assert.match(
      await refuseFollow(upstream.id, [id]),
      /\/body\/downstreamEnvironmentIds\/0 does not match an environment of the same project/,
    );
  const editor = await app.addKey({ [organizationId]: ['VIEW_ENVIRONMENT', 'EDIT_ENVIRONMENT_SETTINGS'] });
  const waiting = await createEnvironment();
  const input = { id: upstream.id, body: { downstreamEnvironmentIds: [waiting.id] } };
  const message = (await refused('setDownstream', 403, { ...input, as: editor })).message;
  assert.match(message, /downstreamEnvironmentIds\/0 needs the right RUN_APPLY/);
  const role = ['VIEW_ENVIRONMENT', 'EDIT_ENVIRONMENT_SETTINGS'] as const;
  const as = await keyFor(role, { projectId }, []);
  const params = { id: upstream.id };
  await refused('setDownstream', 403, /downstreamEnvironmentIds\/0 needs the right VIEW_ENVIRONMENT/, {
    params,
    body: { downstreamEnvironmentIds: [elsewhere.id] },
    as,
  });
});
