import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { beforeEach, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { plannedOutcome, stateFile } from '../../../testing/agent.ts';
import { startAgentTests } from '../../../testing/start.ts';
import { carryOutDue } from '../../framework/effects/carry-out.ts';
import { removeBlobs } from '../../framework/effects/remove-blobs.ts';

const tests = await startAgentTests();
const { app, agent, organizationId, send, ok, refused, sql } = tests;
const { createActive, createEnvironment, createIdle, deploy, forgetWork, createTemplate, createFrom } = tests;
beforeEach(() => forgetWork());

const remove = (id: string) => ok('deleteEnvironment', { id });
const refusal = async (id: string) => (await refused('deleteEnvironment', 409, { id })).message;
async function count(from: string, ...values: unknown[]): Promise<number> {
  const rows = await sql<{ count: string }>(`select count(*) as count from ${from}`, ...values);
  return Number(rows[0]?.count);
}
const failed = () => ({ result: 'failed' as const, finishedAt: new Date().toISOString() });

/** An environment whose first deployment has failed in its plan. */
async function createFailed() {
  const environment = await createEnvironment({
    configurationChanges: { name: 'A', value: 'b', type: 0 },
    deployRequest: { configurationChanges: [{ name: 'ONCE', value: 'c', type: 0, scope: 'DEPLOYMENT' }] },
  });
  const job = await agent.claim();
  await agent.putBlob(job, 'plan', 'a plan');
  await agent.finish(job, failed());
  return { environment, job };
}

test('an environment whose first deployment failed is deleted with everything that is its own', async () => {
  const { environment, job } = await createFailed();
  const { id } = environment;
  await ok('updateEnvironmentSchedule', { id, body: { deploy: { cron: '0 3 * * *', enabled: true } } });
  // Blobs that an agent stored after the end.
  await agent.putBlob(job, 'plan', 'a late plan');
  assert.deepEqual(await remove(id), { id });
  await refused('getEnvironment', 404, { id });
  await refused('deleteEnvironment', 404, { id });
  const rest: [string, string][] = [
    ['environment where id = $1', id],
    ['template where id = $1', environment.blueprintId],
    ['deployment where environment_id = $1', id],
    ['deployment_step where deployment_id = $1', job.deploymentId],
    ['deployment_event where deployment_id = $1', job.deploymentId],
    ['job where id = $1', job.jobId],
    ['attempt where job_id = $1', job.jobId],
    ['attempt_blob where job_id = $1', job.jobId],
    ['schedule where environment_id = $1', id],
    ['variable where scope_id = $1', id],
    ['variable where scope_id = $1', job.deploymentId],
  ];
  for (const [from, value] of rest) assert.equal(await count(from, value), 0, from);
  await carryOutDue(app.context, [removeBlobs]);
  const stored: string[] = [];
  for await (const name of app.context.blobs.listStoredBefore(new Date(Date.now() + 60_000)))
    stored.push(name);
  assert.deepEqual(
    stored.filter((name) => name.includes(job.jobId)),
    [],
  );
});

test('the audit log keeps what happened to a deleted environment, and readers receive the deletion', async () => {
  const { id } = await createIdle();
  await remove(id);
  const rows = await sql('select action, details from audit_event where entity_id = $1 order by number', id);
  assert.deepEqual(rows, [
    { action: 'environment.created', details: { name: 'network' } },
    { action: 'environment.deleted', details: { name: 'network', projectId: app.projectId } },
  ]);
  assert.equal(
    await count(
      "organization_event where environment_id = $1 and name = 'environment' and data ->> 'change' = 'deleted'",
      id,
    ),
    1,
  );
});

test('an environment with a template that others use is deleted without the template', async () => {
  const { id, blueprintId } = await createIdle();
  await sql('update template set is_single_use = false where id = $1', blueprintId);
  await remove(id);
  assert.equal(await count('template where id = $1', blueprintId), 1);
});

test('variables of a template are deleted with it, and only then', async () => {
  const variables = "variable where scope = 'BLUEPRINT' and scope_id = $1";
  for (const isSingleUse of [true, false]) {
    const { id, blueprintId } = isSingleUse
      ? await createIdle()
      : await createFrom((await createTemplate()).id, { preventAutoDeploy: true });
    await sql(
      `insert into variable (id, organization_id, scope, scope_id, name, type, user_id)
       select gen_random_uuid(), organization_id, 'BLUEPRINT', id, 'region', 0, author_id
       from template where id = $1`,
      blueprintId,
    );
    assert.equal(await count(variables, blueprintId), 1);
    await remove(id);
    assert.equal(await count(variables, blueprintId), isSingleUse ? 0 : 1);
  }
});

test('an upload that ends after its environment was deleted is refused', async () => {
  const { id } = await createIdle();
  async function* upload() {
    const archive = gzipSync('code');
    yield archive.subarray(0, 10);
    await remove(id);
    yield archive.subarray(10);
  }
  const { statusCode, body } = await send({
    method: 'POST',
    url: `/api/environments/${id}/sources`,
    headers: { 'content-type': 'application/octet-stream' },
    payload: Readable.from(upload()),
  });
  assert.equal(statusCode, 404, body);
});

test('uploaded code is deleted with its environment', async () => {
  const { id } = await createIdle();
  const { statusCode } = await send({
    method: 'POST',
    url: `/api/environments/${id}/sources`,
    headers: { 'content-type': 'application/octet-stream' },
    payload: gzipSync('code'),
  });
  assert.equal(statusCode, 200);
  assert.equal(await count('source_archive where environment_id = $1', id), 1);
  await remove(id);
  assert.equal(await count('source_archive where environment_id = $1', id), 0);
});

test('a locked environment is not deleted, until it is unlocked', async () => {
  const { id } = await createIdle();
  await ok('setEnvironmentLock', { id, body: { isLocked: true, reason: 'audit' } });
  assert.match(await refusal(id), /is locked \(audit\): unlock it first/);
  await ok('setEnvironmentLock', { id, body: { isLocked: false } });
  await remove(id);
});

test('an environment with a running or waiting deployment is not deleted', async () => {
  const { id } = await createIdle();
  await deploy(id);
  assert.match(await refusal(id), /a deploy that is IN_PROGRESS .*: cancel or abort it first/);
  const job = await agent.claim();
  assert.match(await refusal(id), /IN_PROGRESS/);
  await agent.finish(job, plannedOutcome());
  assert.match(await refusal(id), /WAITING_FOR_USER/);
  await ok('cancelDeployment', { id: job.deploymentId });
  await remove(id);
});

test('an environment that was applied is not deleted', async () => {
  const { id } = await createActive();
  assert.match(await refusal(id), /has or may have had resources, .*: destroy it, then archive it/);
});

test('an environment whose apply began without any state of ours is not deleted', async () => {
  const { id } = await createIdle();
  await deploy(id, { userRequiresApproval: false });
  const job = (await agent.plan()) ?? assert.fail('no apply');
  await agent.mark(job);
  await agent.finish(job, failed());
  assert.equal(await count('state_version where environment_id = $1', id), 0);
  assert.match(await refusal(id), /may have had resources/);
});

test('an environment with an imported state is not deleted, also if the state is empty', async () => {
  const { id } = await createIdle();
  await ok('importState', { id, body: stateFile(1, []), headers: { 'content-type': 'application/json' } });
  assert.match(await refusal(id), /may have had resources/);
});

test('an environment whose state a tool has locked is not deleted', async () => {
  const { id } = await createIdle();
  await sql(
    "insert into state_lock (environment_id, lock_id, info, held_by, held_since) values ($1, 'l', '{}', 'admin', now())",
    id,
  );
  assert.match(
    await refusal(id),
    /The state has been locked by .*: unlock the state of environment "network" first/,
  );
});

test('a caller without the right to archive environments cannot delete one', async () => {
  const { id } = await createIdle();
  const as = await app.addKey({ [organizationId]: 'User' });
  await refused('deleteEnvironment', 403, { id, as });
  await refused('deleteEnvironment', 404, { id: randomUUID() });
});
