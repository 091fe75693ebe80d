import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import { testAgent } from '../testing/agent.ts';
import { testApp } from '../testing/app.ts';
import { ok, type Reply } from '../testing/client.ts';
import { createIdle, deploy } from '../testing/environment.ts';
import { openReceiver } from '../testing/receiver.ts';
import { deliverDue } from './delivery/courier.ts';
import type { cloudEventOf } from './messages/cloud-event.ts';

const settings = {
  ENVARIUM_NOTIFICATION_NETWORKS: '127.0.0.1',
  ENVARIUM_NOTIFICATION_HTTP_HOSTS: '127.0.0.1',
  ENVARIUM_BASE_URL: 'https://envarium.example.com',
};
const app = await testApp(settings);
const agent = await testAgent(app);
const receiver = await openReceiver();
const { organizationId, projectId } = app;

type CloudEvent = ReturnType<typeof cloudEventOf>;

let names = 0;
beforeEach(async () => {
  await app.database.pool.query('delete from notification_endpoint');
  await app.database.pool.query("update attempt set status = 'ended'; update job set status = 'done'");
  receiver.received.length = 0;
  receiver.answer = (_, response) => response.end('taken');
});

function create(body: object = {}) {
  return ok(app, 'createNotificationEndpoint', {
    body: {
      organizationId,
      name: `endpoint ${++names}`,
      type: 'Webhook',
      value: `${receiver.address}/in/secret-path`,
      ...body,
    },
  });
}

function assign(endpointId: string, eventNames: readonly string[], project = projectId) {
  return ok(app, 'assignNotificationEndpoint', {
    params: { projectId: project, endpointId },
    body: { eventNames },
  });
}

async function deliveries(query: Record<string, string> = {}): Promise<Reply<'listNotificationDeliveries'>> {
  return ok(app, 'listNotificationDeliveries', { query: { organizationId, ...query } });
}

test('a webhook hears of a deploy that starts, waits, is approved and succeeds, in the form of CloudEvents', async () => {
  const secret = 'shared secret';
  const { id: endpointId } = await create({ webhookSecret: secret });
  await assign(endpointId, [
    'environmentDeployStarted',
    'deploymentWaitingForUser',
    'environmentDeployResumed',
    'deploySucceeded',
  ]);
  const { id: environmentId } = await createIdle(app, { requiresApproval: true });
  const { id } = await deploy(app, environmentId);
  await agent.plan();
  await ok(app, 'approveDeployment', { params: { id } });
  const job = await agent.claim();
  await agent.apply(job);
  await deliverDue(app.context);
  const events = receiver.received.map(({ body }) => JSON.parse(body) as CloudEvent);
  assert.deepEqual(
    events.map(({ type }) => type).toSorted(),
    ['resumed', 'started', 'succeeded', 'waiting'].map((verb) => `com.envarium.deploy.${verb}`),
  );
  const last = receiver.received.find(({ body }) => body.includes('deploy.succeeded'));
  assert.ok(last);
  const event = JSON.parse(last.body) as CloudEvent;
  assert.equal(event.source, 'https://envarium.com');
  assert.equal(event.datacontenttype, 'application/json');
  const { data } = event;
  assert.equal(data.environment?.name, 'network');
  assert.equal(data.environment?.lifespanEndAt, null);
  assert.equal(data.deploymentLog?.status, 'SUCCESS');
  assert.equal(data.deploymentLog?.error, null);
  assert.deepEqual(data.deploymentLog?.reviewers, ['admin']);
  assert.equal(typeof data.deploymentLog?.deploymentDurationMinutes, 'number');
  assert.equal(data.project?.hierarchy, projectId);
  assert.equal(data.organization?.id, organizationId);
  assert.deepEqual(data.blueprint?.retry, {});
  assert.equal(data.link, `https://envarium.example.com/deployments/${id}`);
  const { headers } = last;
  assert.equal(headers['user-agent'], 'envarium-webhook');
  assert.equal(headers['x-envarium-notification-target-id'], endpointId);
  assert.equal(headers['x-envarium-event'], 'com.envarium.deploy.succeeded');
  assert.equal(headers['x-envarium-event-id'], event.id);
  const hmac = (text: string) => createHmac('sha256', secret).update(text).digest('hex');
  assert.equal(headers['x-envarium-signature'], hmac(last.body));
  const timestamp = String(headers['x-envarium-timestamp']);
  assert.equal(headers['x-envarium-timestamp-signature'], hmac(`${timestamp}.${last.body}`));
  assert.ok(Math.abs(Number(timestamp) * 1000 - Date.now()) < 60_000);
  const log = await deliveries();
  assert.deepEqual(new Set(log.deliveries.map(({ status }) => status)), new Set(['delivered']));
});
