import assert from 'node:assert/strict';
import { test } from 'node:test';
import { appliedOutcome, stateFile, testAgent } from '../../../testing/agent.ts';
import { testApp } from '../../../testing/app.ts';
import { ok, refused } from '../../../testing/client.ts';
import { createEnvironment, deploy, deploymentOf, environmentOf } from '../../../testing/environment.ts';
import { fieldOf, fieldsOf } from '../../../testing/fields.ts';

const reason = 'the machine burned down';

/** A deployment whose apply has its start mark. */
async function applying() {
  const app = await testApp();
  const agent = await testAgent(app);
  const environment = await createEnvironment(app, { requiresApproval: false });
  const id = environment.latestDeploymentLog.id ?? '';
  const apply = await agent.plan();
  assert.ok(apply);
  await agent.mark(apply);
  return { app, agent, environment, id, apply };
}

test('a run whose agent is in contact cannot be released', async () => {
  const app = await testApp();
  const agent = await testAgent(app);
  const environment = await createEnvironment(app);
  const id = environment.latestDeploymentLog.id ?? '';
  await refused(app, 'releaseDeployment', 409, /no agent runs it/, { id, body: { reason } });
  await agent.claim();
  await refused(app, 'releaseDeployment', 409, /in contact: abort/, { id, body: { reason } });
  await refused(app, 'releaseDeployment', 400, { id, body: {} });
});

test('a silent run with a mark holds the environment, says so, and is released with a reason', async () => {
  const { app, environment, id } = await applying();
  const queued = await deploy(app, environment.id);
  app.advance(21);
  const waiting = (await deploymentOf(app, queued.id)).waitingFor;
  assert.equal(waiting?.kind, 'lock');
  assert.equal(waiting?.id, id);
  assert.match(waiting?.text ?? '', /host has not been heard from since/);
  const released = await ok(app, 'releaseDeployment', { id, body: { reason } });
  assert.equal(released.status, 'INTERNAL_FAILURE');
  assert.match((await deploymentOf(app, id)).error?.message ?? '', /Given up by .* the machine burned down/);
  assert.equal((await deploymentOf(app, queued.id)).status, 'IN_PROGRESS');
  assert.equal((await environmentOf(app, environment.id)).status, 'DEPLOY_IN_PROGRESS');
  const audit = await app.context.db
    .selectFrom('audit_event')
    .select('details')
    .where('action', '=', 'deployment.released')
    .executeTakeFirstOrThrow();
  assert.deepEqual(audit.details, { reason });
});

test('a run is released only with the right, and what it sends afterwards is refused or rescued', async () => {
  const app = await testApp();
  const agent = await testAgent(app);
  const environment = await createEnvironment(app, { requiresApproval: false });
  const late = (await agent.plan()) ?? assert.fail('no apply');
  await agent.mark(late);
  const first = await agent.putState(late, stateFile(1, ['a'], environment.id), '');
  app.advance(60);
  const params = { id: late.deploymentId };
  const member = await app.addKey({ [app.organizationId]: 'User' });
  await refused(app, 'releaseDeployment', 403, { params, body: { reason }, as: member });
  await ok(app, 'releaseDeployment', { params, body: { reason } });
  const outcome = await agent.send('finish', late, { fence: late.fence, outcome: appliedOutcome() });
  assert.deepEqual([outcome.statusCode, outcome.json<{ code: string }>().code], [409, 'fence_outdated']);
  assert.equal((await deploymentOf(app, late.deploymentId)).status, 'INTERNAL_FAILURE');

  await agent.heartbeat([]);
  await deploy(app, environment.id, { userRequiresApproval: false });
  const next = (await agent.plan()) ?? assert.fail('no apply');
  const current = await agent.apply(next, ['a', 'b']);
  const rescued = await agent.putState(late, stateFile(2, ['a', 'late'], environment.id), '');
  assert.equal(rescued.standing, 'rescued');
  const again = await agent.putState(late, stateFile(2, ['a', 'late'], environment.id), '');
  assert.deepEqual(again, rescued);
  const versions = await ok(app, 'listStateVersions', { id: environment.id });
  assert.deepEqual(fieldsOf(versions, 'id', 'standing'), [
    [rescued.stateVersionId, 'rescued'],
    [current, 'current'],
    [first.stateVersionId, 'superseded'],
  ]);
  const { rows } = await app.database.pool.query<{ actor_id: string }>(
    "select actor_id from audit_event where action = 'deployment.released' and entity_id = $1",
    [late.deploymentId],
  );
  const { startedBy } = await deploymentOf(app, next.deploymentId);
  assert.deepEqual(rows, [{ actor_id: startedBy }], 'the person who released it');
});

test('a run that an abort does not end is released although its agent is in contact', async () => {
  const { app, agent, id, apply } = await applying();
  await ok(app, 'abortDeployment', { id });
  app.advance(app.context.settings.abortSeconds + 100);
  await agent.heartbeat([apply]);
  const early = await refused(app, 'releaseDeployment', 409, { id, body: { reason } });
  assert.match(early.message, /is in contact: abort the deployment instead/);
  app.advance(30);
  await agent.heartbeat([apply]);
  const released = await ok(app, 'releaseDeployment', { id, body: { reason } });
  assert.equal(released.status, 'ABORTED');
  assert.deepEqual(fieldOf((await agent.heartbeat([apply])).unwanted, 'fence'), [apply.fence]);
});
