import assert from 'node:assert/strict';
import { test } from 'node:test';
import { appliedOutcome, stateFile } from '../../../testing/agent.ts';
import { fieldsOf } from '../../../testing/fields.ts';
import { startAgentTests } from '../../../testing/start.ts';

const tests = await startAgentTests();
const { app, agent, send, ok, refused, sql, createEnvironment, deploy, deploymentOf } = tests;

async function runningApply() {
  const environment = await createEnvironment({ requiresApproval: false });
  const job = await agent.plan();
  assert.ok(job);
  await agent.mark(job);
  return { environment, job };
}

function versions(environmentId: string) {
  return ok('listStateVersions', { id: environmentId });
}

/** An apply that wrote a state, was given up, and is still at work somewhere. */
async function givenUp() {
  const { environment, job } = await runningApply();
  const first = await agent.putState(job, stateFile(1, ['a'], job.environmentId), '');
  app.advance(60);
  await ok('releaseDeployment', { id: job.deploymentId, body: { reason: 'it hangs' } });
  await agent.heartbeat([]);
  return { environment, job, first };
}

test('a state that arrives after the give-up is its own version, and outdates plans made in the meantime', async () => {
  const { environment, job, first } = await givenUp();
  const { id } = await deploy(environment.id, { userRequiresApproval: true });
  await agent.plan();
  const second = await agent.putState(job, stateFile(2, ['a', 'b'], job.environmentId), '');
  assert.equal(second.standing, 'current');
  assert.notEqual(second.stateVersionId, first.stateVersionId);
  assert.deepEqual(await agent.putState(job, stateFile(2, ['a', 'b'], job.environmentId), ''), second);
  assert.deepEqual(fieldsOf(await versions(environment.id), 'serial', 'standing', 'follows'), [
    [2, 'current', first.stateVersionId],
    [1, 'superseded', undefined],
  ]);
  await refused('approveDeployment', 409, /outdated/, { id });
});

test('a state that arrives after the give-up does not replace the one that an apply starts from', async () => {
  const { environment, job, first } = await givenUp();
  await deploy(environment.id, { userRequiresApproval: false });
  const apply = await agent.plan();
  assert.ok(apply);
  assert.equal(
    (await agent.putState(job, stateFile(7, ['a', 'late'], job.environmentId), '')).standing,
    'rescued',
  );
  assert.equal(apply.state.current?.stateVersionId, first.stateVersionId);
  const stored = await agent.apply(apply, ['a', 'b']);
  assert.equal((await deploymentOf(apply.deploymentId)).status, 'SUCCESS');
  const all = await versions(environment.id);
  assert.deepEqual(fieldsOf(all, 'serial', 'standing'), [
    [2, 'current'],
    [7, 'rescued'],
    [1, 'superseded'],
  ]);
  assert.equal(all[0]?.id, stored);
});

test('a state that arrives after the give-up does not replace the one that an outside tool works on', async () => {
  const { environment, job } = await givenUp();
  const url = `/state/v1/environments/${environment.id}`;
  const lock = await send({
    method: 'LOCK' as 'GET',
    url,
    headers: { 'content-type': 'application/json' },
    payload: '{"ID":"l"}',
  });
  assert.equal(lock.statusCode, 200);
  assert.equal(
    (await agent.putState(job, stateFile(7, ['a', 'late'], job.environmentId), '')).standing,
    'rescued',
  );
  const written = await send({
    method: 'POST',
    url: `${url}?ID=l`,
    headers: { 'content-type': 'text/plain' },
    payload: stateFile(2, ['b'], environment.id),
  });
  assert.equal(written.statusCode, 200, written.body);
  assert.deepEqual(fieldsOf(await versions(environment.id), 'serial', 'standing', 'origin'), [
    [2, 'current', 'http'],
    [7, 'rescued', 'run'],
    [1, 'superseded', 'run'],
  ]);
});

test('an apply whose state could not become current is not a success', async () => {
  const { job } = await runningApply();
  await agent.putState(job, stateFile(1, ['a'], job.environmentId), '');
  await sql(`update state_version set standing = 'rescued' where job_id = $1`, job.jobId);
  await agent.finish(job, appliedOutcome());
  const ended = await deploymentOf(job.deploymentId);
  assert.equal(ended.status, 'INTERNAL_FAILURE');
  assert.match(ended.error?.message ?? '', /kept as a rescued version/);
});
