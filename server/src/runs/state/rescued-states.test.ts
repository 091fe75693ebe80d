import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';
import { stateProtocolBase } from '#contract/state/operations.ts';
import { answerSeconds } from '#protocol/messages/agent.ts';
import { sha256, stateFile } from '../../../testing/agent.ts';
import { fieldOf } from '../../../testing/fields.ts';
import { startAgentTests } from '../../../testing/start.ts';

const tests = await startAgentTests({ ENVARIUM_RESCUED_STATES_LIMIT_MB: '3' });
const { app, agent, send, call, ok, refused, sql } = tests;
const { createActive, createEnvironment, deploy, environmentOf, forgetWork } = tests;
beforeEach(() => forgetWork());

async function versions(environmentId: string) {
  const all = await ok('listStateVersions', { id: environmentId });
  return all.map(({ serial, standing, origin }) => [serial, standing, origin]);
}

async function rescues(environmentId: string) {
  const rows = await sql<{ actor_id: string; details: Record<string, unknown> }>(
    `select actor_id, details from audit_event where action = 'state.rescued' and entity_id = $1 order by number`,
    environmentId,
  );
  return rows.map(({ actor_id: actor, details }) => ({ actor, ...details }) as Record<string, unknown>);
}

test('an attempt that was lost before it was allowed to change anything never replaces the current state', async () => {
  const environment = await createActive();
  await deploy(environment.id, { userRequiresApproval: false });
  const lost = await agent.claim();
  // Twice missing from the list of its agent: the job goes to the next attempt, which applies.
  app.advance(answerSeconds);
  await agent.heartbeat([]);
  await agent.heartbeat([]);
  const apply = await agent.plan();
  assert.ok(apply);
  const stored = await agent.apply(apply, ['a', 'b']);
  const empty = await agent.putState(lost, stateFile(9, [], environment.id), stored);
  assert.equal(empty.standing, 'rescued');
  assert.deepEqual(await versions(environment.id), [
    [9, 'rescued', 'moved'],
    [2, 'current', 'run'],
    [1, 'superseded', 'run'],
  ]);
  const [entry, ...more] = await rescues(environment.id);
  assert.deepEqual(more, []);
  const { jobId, attempt, fence } = lost;
  assert.deepEqual(
    { ...entry, sha256: '', deploymentId: '' },
    {
      actor: 'ENVARIUM_DEFAULT',
      stateVersionId: empty.stateVersionId,
      reason: 'planOfEnvironmentWithState',
      deploymentId: '',
      jobId,
      attempt,
      fence,
      phase: 'plan',
      serial: 9,
      lineage: environment.id,
      sha256: '',
    },
  );
});

test('an apply without a start mark cannot change the current state', async () => {
  const environment = await createEnvironment({ requiresApproval: false });
  const job = await agent.plan();
  assert.ok(job);
  const reply = await agent.putState(job, stateFile(1, ['a'], environment.id), '');
  assert.equal(reply.standing, 'rescued');
  assert.deepEqual(fieldOf(await rescues(environment.id), 'reason'), ['attemptWithoutMark']);
});

test('an attempt that another one has overtaken cannot change the current state', async () => {
  const environment = await createEnvironment({ requiresApproval: false });
  const first = await agent.plan();
  assert.ok(first);
  await agent.mark(first);
  app.advance(60);
  await ok('releaseDeployment', { id: first.deploymentId, body: { reason: 'it hangs' } });
  await agent.heartbeat([]);
  await deploy(environment.id, { userRequiresApproval: false });
  const second = await agent.plan();
  assert.ok(second);
  await agent.mark(second);
  await agent.finish(second, { result: 'failed', finishedAt: new Date().toISOString() });
  assert.equal((await agent.putState(first, stateFile(1, ['a'], environment.id), '')).standing, 'rescued');
  assert.deepEqual(fieldOf(await rescues(environment.id), 'reason'), ['newerAttemptMarked']);
});

test('a first plan may move a state into ours, but not that of another environment', async () => {
  const victim = await createActive();
  const environment = await createEnvironment();
  const job = await agent.claim();
  const stolen = stateFile(1, ['a'], victim.id);
  const { stateVersionId, standing } = await agent.putState(job, stolen, '');
  assert.equal(standing, 'rescued');
  assert.deepEqual(fieldOf(await rescues(environment.id), 'reason'), ['lineageOfOtherEnvironment']);
  const reader = await app.addKey({ [app.organizationId]: 'Admin' });
  const params = { id: stateVersionId };
  for (const attempt of [
    await refused('getStateContent', 403, { params, as: reader }),
    await refused('promoteStateVersion', 403, { params, body: {}, as: reader }).catch(
      // The state is held until the run is over.
      () => ({ message: 'the lineage of another environment' }),
    ),
  ])
    assert.match(attempt.message, /the lineage of another environment/);
  assert.equal((await call('getStateContent', { params })).body, stolen, 'the operator may read it');
  assert.equal((await environmentOf(environment.id)).status, 'DEPLOY_IN_PROGRESS');
});

test('a first plan moves the state of its own repository into ours', async () => {
  const environment = await createEnvironment();
  const job = await agent.claim();
  const moved = await agent.putState(job, stateFile(3, ['a'], 'of the repository'), '');
  assert.equal(moved.standing, 'current');
  assert.deepEqual(await rescues(environment.id), []);
});

test('rescued states of an environment have a limit, beyond which they are refused and left to the agent', async () => {
  const environment = await createActive();
  await deploy(environment.id, { userRequiresApproval: false });
  const job = await agent.plan();
  assert.ok(job);
  await agent.mark(job);
  const shipped = (state: string, moment: 'running' | 'final') => {
    const query = { fence: String(job.fence), sha256: sha256(state), follows: '', moment };
    return agent.send('putState', { ...job, query }, state);
  };
  for (const lineage of ['first', 'second', 'third'])
    assert.equal((await agent.putState(job, stateFile(9, [], lineage), '')).standing, 'rescued');
  const refusals = [
    await shipped(stateFile(9, [], 'fourth'), 'running'),
    await shipped(stateFile(9, [], 'fourth'), 'final'),
    await shipped(stateFile(10, ['a'.repeat(1_100_000)], 'third'), 'running'),
    await send({
      method: 'POST',
      url: `${stateProtocolBase}/${environment.id}?ID=forgotten`,
      payload: stateFile(9, [], 'fourth'),
    }),
  ];
  for (const { statusCode, body } of refusals) {
    assert.equal(statusCode, 413, body);
    assert.match(body, /larger than 3 MB, .* ENVARIUM_RESCUED_STATES_LIMIT_MB/);
  }
  const grown = await agent.putState(job, stateFile(10, ['a'], 'third'), '');
  assert.equal(grown.standing, 'rescued', 'a version that is as large replaces its own');
  const kept = (await versions(environment.id)).map(([serial, standing]) => [serial, standing]);
  assert.deepEqual(kept, [
    [10, 'rescued'],
    [9, 'rescued'],
    [9, 'rescued'],
    [1, 'current'],
  ]);
  await app.carryOutEffects();
  assert.equal(readdirSync(join(app.folder, 'blobs', 'states', environment.id)).length, 4);
  const rows = await sql(
    "select actor_id, details from audit_event where action = 'state.refused' and entity_id = $1",
    environment.id,
  );
  assert.deepEqual(
    rows.map(({ actor_id: actor, details }) => [actor, (details as { sha256: string }).sha256]),
    [['ENVARIUM_DEFAULT', sha256(stateFile(9, [], 'fourth'))]],
  );
});
