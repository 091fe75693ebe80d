import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testAgent } from '../testing/agent.ts';
import { testApp } from '../testing/app.ts';
import { ok, refused } from '../testing/client.ts';
import { createEnvironment, deploy, deploymentOf, environmentOf } from '../testing/environment.ts';

const reason = 'the machine burned down';

test('a run whose agent is in contact cannot be released', async () => {
  const app = await testApp();
  const agent = await testAgent(app);
  const environment = await createEnvironment(app);
  const id = environment.latestDeploymentLog.id ?? '';
  const unclaimed = await refused(app, 'releaseDeployment', 409, { params: { id }, body: { reason } });
  assert.match(unclaimed.message, /no agent runs it/);
  await agent.claim();
  const inContact = await refused(app, 'releaseDeployment', 409, { params: { id }, body: { reason } });
  assert.match(inContact.message, /in contact: abort/);
  await refused(app, 'releaseDeployment', 400, { params: { id }, body: {} });
});

test('a silent run with a mark holds the environment, says so, and is released with a reason', async () => {
  const app = await testApp();
  const agent = await testAgent(app);
  const environment = await createEnvironment(app, { requiresApproval: false });
  const id = environment.latestDeploymentLog.id ?? '';
  const apply = await agent.plan();
  assert.ok(apply);
  await agent.mark(apply);
  const queued = await deploy(app, environment.id);
  app.advance(21);
  const waiting = (await deploymentOf(app, queued.id)).waitingFor;
  assert.equal(waiting?.kind, 'lock');
  assert.equal(waiting?.id, id);
  assert.match(waiting?.text ?? '', /host has not been heard from since/);
  const released = await ok(app, 'releaseDeployment', { params: { id }, body: { reason } });
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
