import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import { plannedOutcome, testAgent } from '../../../testing/agent.ts';
import { testApp } from '../../../testing/app.ts';
import { ok, type Reply, refused } from '../../../testing/client.ts';
import { createActive, createIdle, deploy } from '../../../testing/environment.ts';
import { fieldOf, fieldsOf } from '../../../testing/fields.ts';
import { openReceiver } from '../../../testing/receiver.ts';
import { startAgentTests } from '../../../testing/start.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { getEnvironmentRow } from '../../rows/environments/environment-store.ts';
import { takeDeliveries } from '../../rows/notifications/delivery-store.ts';
import { fireTimers } from '../../runs/schedules/fire-timers.ts';
import { deliverDue, deliverUntil } from './delivery/courier.ts';
import { keepLog } from './keep-log.ts';
import type { cloudEventOf } from './messages/cloud-event.ts';

const settings = {
  ENVARIUM_NOTIFICATION_NETWORKS: '127.0.0.1',
  ENVARIUM_NOTIFICATION_HTTP_HOSTS: '127.0.0.1',
  ENVARIUM_BASE_URL: 'https://envarium.example.com',
};
const { app, agent, organizationId, projectId, sql } = await startAgentTests(settings);
const receiver = await openReceiver();

type CloudEvent = ReturnType<typeof cloudEventOf>;

let names = 0;
beforeEach(async () => {
  await sql('delete from notification_endpoint');
  await sql("update attempt set status = 'ended'; update job set status = 'done'");
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
  await ok(app, 'approveDeployment', { id });
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

test('only assigned events are stored, sub-projects inherit, and the nearest assignment counts', async () => {
  const { id: endpointId } = await create();
  const below = await ok(app, 'createProject', {
    body: { organizationId, name: `below ${endpointId}`, parentProjectId: projectId },
  });
  await assign(endpointId, ['environmentDeployStarted', 'deployFailed']);
  const inside = await createIdle(app, { projectId: below.id });
  await deploy(app, inside.id);
  assert.deepEqual(fieldsOf((await deliveries()).deliveries, 'eventName', 'projectId'), [
    ['environmentDeployStarted', below.id],
  ]);
  await assign(endpointId, ['deploySucceeded'], below.id);
  const other = await createIdle(app, { projectId: below.id, name: 'other' });
  await deploy(app, other.id);
  assert.equal((await deliveries()).deliveries.length, 1);
  await assign(endpointId, [], below.id);
  const third = await createIdle(app, { projectId: below.id, name: 'third' });
  await deploy(app, third.id);
  assert.equal((await deliveries()).deliveries.length, 2);
});

test('an assignment is replaced, listed, and removed by an empty list', async () => {
  const { id: endpointId } = await create();
  const list = () => ok(app, 'listNotificationAssignments', { params: { projectId } });
  const made = await assign(endpointId, ['deployFailed', 'deployFailed', 'budgetExceeded']);
  assert.deepEqual(made.eventNames, ['deployFailed', 'budgetExceeded']);
  assert.equal(made.notificationEndpointId, endpointId);
  assert.equal((await assign(endpointId, ['driftDetected'])).id, made.id);
  assert.deepEqual(fieldOf(await list(), 'eventNames'), [['driftDetected']]);
  assert.deepEqual((await assign(endpointId, [])).eventNames, []);
  assert.deepEqual(await list(), []);
  assert.deepEqual((await assign(endpointId, [])).eventNames, []);
  const unknown = { params: { projectId, endpointId: projectId }, body: { eventNames: [] } };
  await refused(app, 'assignNotificationEndpoint', 404, /notification endpoint/, unknown);
});

test('an endpoint keeps its secret until null removes it, and its name is unique', async () => {
  const made = await create({ webhookSecret: 'first' });
  const change = (body: object) => ok(app, 'updateNotificationEndpoint', { id: made.id, body });
  const isSigned = async () => {
    const { request } = await ok(app, 'testNotificationEndpoint', { id: made.id });
    return 'x-envarium-signature' in request.headers;
  };
  assert.ok(!('webhookSecret' in made));
  await change({ name: 'renamed' });
  assert.ok(await isSigned());
  await change({ webhookSecret: null });
  assert.ok(!(await isSigned()));
  const other = await create();
  const taken = { id: other.id, body: { name: 'renamed' } };
  await refused(app, 'updateNotificationEndpoint', 409, /"renamed" already exists/, taken);
  const rows = await sql('select sealed_value from notification_endpoint');
  assert.doesNotMatch(JSON.stringify(rows), new RegExp(Buffer.from('secret-path').toString('hex')));
  await ok(app, 'deleteNotificationEndpoint', { id: made.id });
  await refused(app, 'deleteNotificationEndpoint', 404, { id: made.id });
});

test('the address of an endpoint is shown to those only who may change it', async () => {
  const { value } = await create();
  const member = await app.addKey({ [organizationId]: 'User' });
  const [seen] = await ok(app, 'listNotificationEndpoints', { query: { organizationId }, as: member });
  const [full] = await ok(app, 'listNotificationEndpoints', { query: { organizationId } });
  assert.equal(full?.value, value);
  assert.match(seen?.value ?? '', /^\*+$/);
  const params = { id: full?.id ?? '' };
  assert.deepEqual(await ok(app, 'getNotificationEndpoint', { params }), full);
  assert.deepEqual(await ok(app, 'getNotificationEndpoint', { params, as: member }), seen);
  await refused(app, 'listNotificationDeliveries', 403, { query: { organizationId }, as: member });
});

test('an address that nothing may be sent to is refused when it is stored', async () => {
  const secure = await testApp();
  const refusals: [object, RegExp][] = [
    [{ value: 'http://hooks.example.com/x' }, /\/body\/value must be an https:\/\/ address .*HTTP_HOSTS/],
    [{ value: 'ftp://hooks.example.com/x' }, /\/body\/value must be an https:\/\/ address/],
    [{ value: 'nothing' }, /\/body\/value must be an https:\/\/ address/],
    [{ value: 'https://user:pass@hooks.example.com/' }, /must not have a user or password/],
    ...[
      ...['127.0.0.1', '2130706433', '0x7f.1', '10.1.2.3', '169.254.169.254', '192.168.0.1', '100.64.0.1'],
      ...[
        '[::1]',
        '[::ffff:10.0.0.1]',
        '[fd00::1]',
        '[64:ff9b::a00:1]',
        '[::ffff:0:a00:1]',
        'localhost',
        'a.localhost',
        '0.0.0.0',
      ],
    ].map((host): [object, RegExp] => [{ value: `https://${host}/x` }, /private or local network/]),
    [{ type: 'Slack', value: 'https://10.0.0.1/x' }, /private or local network/],
    [
      { type: 'Slack', value: 'https://hooks.example.com/', webhookSecret: 's' },
      /\/body\/webhookSecret is for/,
    ],
    [{ type: 'Pager', value: 'x' }, /\/body\/type must be one of/],
  ];
  for (const [body, message] of refusals) {
    const whole = { organizationId: secure.organizationId, name: 'n', type: 'Webhook', ...body };
    const refusal = await refused(secure, 'createNotificationEndpoint', 400, { body: whole });
    assert.match(refusal.message, message, JSON.stringify(body));
  }
});

test('a failure is tried again with growing pauses, for a day, and everything of it is in the log', async () => {
  const own = await testApp(settings);
  const { id: endpointId } = await ok(own, 'createNotificationEndpoint', {
    body: {
      organizationId: own.organizationId,
      name: 'failing',
      type: 'Webhook',
      value: `${receiver.address}/in/secret-path`,
      webhookSecret: 'shared secret',
    },
  });
  await ok(own, 'assignNotificationEndpoint', {
    params: { projectId: own.projectId, endpointId },
    body: { eventNames: ['environmentDeployStarted'] },
  });
  receiver.answer = (_, response) => {
    response.statusCode = 500;
    response.end(`no: \0 /in/secret-path shared secret`);
  };
  await deploy(own, (await createIdle(own)).id);
  const query = { organizationId: own.organizationId };
  const only = async () => (await ok(own, 'listNotificationDeliveries', { query })).deliveries[0];
  await deliverDue(own.context);
  const first = await only();
  assert.deepEqual([first?.status, first?.attempts], ['waiting', 1]);
  assert.match(first?.error ?? '', /It answered with status 500/);
  await deliverDue(own.context);
  assert.equal(receiver.received.length, 1, 'it is not tried again at once');
  own.advance(6);
  await deliverDue(own.context);
  assert.equal(receiver.received.length, 2);
  own.advance(24 * 3600);
  await keepLog(own.context);
  const last = await only();
  assert.equal(last?.status, 'failed');
  const id = last?.id ?? '';
  const details = await ok(own, 'getNotificationDelivery', { id });
  assert.deepEqual(
    details.tries.map(({ number, response }) => [number, response?.status]),
    [
      [1, 500],
      [2, 500],
    ],
  );
  assert.doesNotMatch(JSON.stringify(details), /secret-path|shared secret/);
  receiver.answer = (_, response) => response.end('taken');
  await ok(own, 'resendNotificationDelivery', { id });
  await deliverDue(own.context);
  const sent = await ok(own, 'getNotificationDelivery', { id });
  assert.deepEqual([sent.status, sent.tries.length, sent.error], ['delivered', 3, undefined]);
  const ids = receiver.received.map(({ headers }) => headers['x-envarium-event-id']);
  assert.equal(new Set(ids).size, 1, 'all attempts have the same event id');
  own.advance(31 * 24 * 3600);
  await keepLog(own.context);
  assert.equal(await only(), undefined);
});

test('an endpoint that redirects, answers 30 MB or never is an error or done, within its limits', async () => {
  const { id } = await create();
  const press = () => ok(app, 'testNotificationEndpoint', { id });
  const good = await press();
  assert.deepEqual([good.error, good.response], [null, { status: 200, body: 'taken' }]);
  assert.match(good.request.body, /com\.envarium\.webhook\.test/);
  assert.equal(good.request.address, `${receiver.address}/…`);
  receiver.answer = (_, response) => {
    response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
  };
  assert.match((await press()).error?.message ?? '', /a redirect, which is not followed/);
  receiver.answer = (_, response) => {
    const piece = Buffer.alloc(1_000_000, 'x');
    const more = (left: number): void => {
      if (left > 0 && !response.destroyed) response.write(piece, () => more(left - 1));
    };
    more(30);
  };
  const large = await press();
  assert.deepEqual([large.error, large.response?.body.length], [null, 4096]);
  receiver.answer = (request) => request.socket.destroy();
  assert.equal((await press()).error?.type, 'unknown');
  const silent = Promise.withResolvers<void>();
  receiver.answer = () => silent.resolve();
  const late = press();
  await silent.promise;
  const { error, response } = await late;
  assert.deepEqual([error?.type, response], ['timeout', null]);
});

test('the log is looked through by page, endpoint, project, event and status', async () => {
  const [one, two] = [await create(), await create()];
  for (const { id } of [one, two]) await assign(id, ['environmentDeployStarted']);
  for (const name of ['a', 'b']) await deploy(app, (await createIdle(app, { name })).id);
  const all = await deliveries();
  assert.equal(all.deliveries.length, 4);
  const first = await deliveries({ limit: '3' });
  const second = await deliveries({ limit: '3', offset: first.nextPageKey });
  assert.deepEqual([...first.deliveries, ...second.deliveries], all.deliveries);
  assert.equal(second.nextPageKey, '');
  assert.equal((await deliveries({ endpointId: one.id })).deliveries.length, 2);
  assert.equal((await deliveries({ status: 'failed' })).deliveries.length, 0);
  assert.equal((await deliveries({ eventName: 'driftDetected' })).deliveries.length, 0);
  assert.equal((await deliveries({ projectId })).deliveries.length, 4);
  const query = { organizationId, endpointId: 'x' };
  await refused(app, 'listNotificationDeliveries', 400, { query });
});

test('what happens at the end of a lifetime is sent with its time and reason', async () => {
  const { id: endpointId } = await create();
  await assign(endpointId, ['environmentMarkedForAutoDestroy', 'environmentAutoDestroyRetried']);
  const { id } = await createIdle(app);
  const environment = await getEnvironmentRow(app.context.db, id);
  assert.ok(environment);
  const destroyAt = new Date('2030-01-01T00:00:00Z');
  await inTransaction(app.context, async (context) => {
    await context.react('lifetimeNoticed', {
      environment,
      notice: 'markedForAutoDestroy',
      destroyAt,
      reason: null,
    });
    const reason = 'the environment is locked';
    await context.react('lifetimeNoticed', { environment, notice: 'autoDestroyRetried', destroyAt, reason });
  });
  await deliverDue(app.context);
  const events = receiver.received.map(({ body }) => JSON.parse(body) as CloudEvent);
  assert.deepEqual(Object.fromEntries(events.map(({ type, data }) => [type, data.environment?.lifetime])), {
    'com.envarium.environment.marked': { destroyAt: '2030-01-01T00:00:00.000Z', reason: null },
    'com.envarium.destroy.retried': {
      destroyAt: '2030-01-01T00:00:00.000Z',
      reason: 'the environment is locked',
    },
  });
});

test('a lifetime that ends is announced, and a destroy at its end that is refused or fails', async () => {
  const own = await testApp(settings);
  const { organizationId, projectId } = own;
  const { id: endpointId } = await ok(own, 'createNotificationEndpoint', {
    body: { organizationId, name: 'ends', type: 'Webhook', value: `${receiver.address}/ends` },
  });
  await ok(own, 'assignNotificationEndpoint', {
    params: { projectId, endpointId },
    body: { eventNames: ['environmentMarkedForAutoDestroy', 'environmentAutoDestroyRetried'] },
  });
  const ownAgent = await testAgent(own);
  await createActive(own, ownAgent, { ttl: { type: 'HOURS', value: '1' } });
  for (const seconds of [1801, 1801]) {
    own.advance(seconds);
    await fireTimers(own.context);
  }
  await ownAgent.finish(await ownAgent.claim(), plannedOutcome({ result: 'failed' }));
  await deliverDue(own.context);
  const events = receiver.received.map(({ body }) => JSON.parse(body) as CloudEvent);
  assert.deepEqual(fieldOf(events, 'type').toSorted(), [
    'com.envarium.destroy.retried',
    'com.envarium.environment.marked',
  ]);
  const again = events.find(({ type }) => type === 'com.envarium.destroy.retried');
  assert.match(again?.data.environment?.lifetime?.reason ?? '', /the destroy .* ended as FAILURE/);
});

test('a change that is rolled back has no delivery', async () => {
  const { id: endpointId } = await create();
  await assign(endpointId, ['environmentMarkedForAutoDestroy']);
  const { id } = await createIdle(app);
  const environment = await getEnvironmentRow(app.context.db, id);
  assert.ok(environment);
  const notice = {
    environment,
    notice: 'markedForAutoDestroy',
    destroyAt: new Date(),
    reason: null,
  } as const;
  const failing = inTransaction(app.context, async (context) => {
    await context.react('lifetimeNoticed', notice);
    throw new Error('no');
  });
  await assert.rejects(failing, /no/);
  assert.deepEqual((await deliveries()).deliveries, []);
});

test('a delivery that a server took and did not finish is sent by another one', async () => {
  const { id: endpointId } = await create();
  await assign(endpointId, ['environmentDeployStarted']);
  await deploy(app, (await createIdle(app)).id);
  const now = app.context.now();
  const leasedUntil = new Date(now.getTime() + 60_000);
  const [taken] = await takeDeliveries(app.context.db, endpointId, { most: 1, now, leasedUntil });
  assert.ok(taken);
  await deliverDue(app.context);
  assert.deepEqual(receiver.received, [], 'the server that claimed it has time');
  app.advance(61);
  await deliverDue(app.context);
  assert.equal(receiver.received.length, 1);
  assert.equal((await deliveries()).deliveries[0]?.status, 'delivered');
});

test('a slow endpoint with many deliveries delays no other endpoint', async () => {
  const slow = await create({ name: 'slow', value: `${receiver.address}/slow` });
  await assign(slow.id, ['environmentDeployStarted']);
  const environment = await createIdle(app);
  await deploy(app, environment.id);
  await sql(`insert into notification_delivery (id, event_id, endpoint_id, organization_id, project_id, environment_id,
       event_name, facts, status, created_at, due_at, give_up_at)
     select gen_random_uuid(), event_id, endpoint_id, organization_id, project_id, environment_id, event_name, facts,
       status, created_at, due_at, give_up_at from notification_delivery, generate_series(1, 500)`);
  const held: (() => void)[] = [];
  receiver.answer = (request, response) => {
    if (request.url === '/slow') held.push(() => response.end());
    else response.end('taken');
  };
  const closing = new AbortController();
  const delivering = deliverUntil(app.context, closing.signal);
  await receiver.got(4);
  const quick = await create({ name: 'quick', value: `${receiver.address}/quick` });
  await assign(quick.id, ['environmentDeployStarted']);
  const other = await createIdle(app, { name: 'another' });
  await deploy(app, other.id);
  await receiver.got(5);
  assert.deepEqual(fieldOf(receiver.received, 'path'), ['/slow', '/slow', '/slow', '/slow', '/quick']);
  closing.abort();
  await delivering;
  for (const end of held) end();
});
