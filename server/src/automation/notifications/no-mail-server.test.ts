import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTests } from '../../../testing/start.ts';
import { deliverDue } from './delivery/courier.ts';

const { app, organizationId, projectId, call, ok, createIdle, deploy } = await startTests();

test('an e-mail endpoint is stored without a mail server, and says that its deliveries fail', async () => {
  const why = 'No mail server is configured (ENVARIUM_SMTP_HOST, ENVARIUM_SMTP_FROM)';
  const body = { organizationId, name: 'mail', type: 'Email', value: 'ops@example.com' };
  const created = await call('createNotificationEndpoint', { body });
  assert.equal(created.statusCode, 200, created.body);
  const { id, problem } = created.json<{ id: string; problem?: string }>();
  assert.equal(problem, why);
  const warning = `${why}: deliveries fail until it is.`;
  assert.equal(created.headers['x-envarium-warning'], warning);
  const changed = await call('updateNotificationEndpoint', { id, body: { name: 'mails' } });
  assert.equal(changed.headers['x-envarium-warning'], warning);
  assert.equal((await ok('listNotificationEndpoints', { query: { organizationId } }))[0]?.problem, why);
  await ok('assignNotificationEndpoint', {
    params: { projectId, endpointId: id },
    body: { eventNames: ['environmentDeployStarted'] },
  });
  await deploy((await createIdle()).id);
  await deliverDue(app.context);
  const { deliveries } = await ok('listNotificationDeliveries', { query: { organizationId } });
  const delivery = deliveries[0] ?? assert.fail('there is no delivery');
  const { tries } = await ok('getNotificationDelivery', { id: delivery.id });
  assert.equal(tries[0]?.error?.message, why);
  const tried = await ok('testNotificationEndpoint', { id });
  assert.equal(tried.error?.message, why);
});

test('an endpoint that does not need a mail server has no problem', async () => {
  const body = { organizationId, name: 'hook', type: 'Webhook', value: 'https://hooks.invalid/x' };
  const { headers, ...created } = await call('createNotificationEndpoint', { body });
  assert.deepEqual(
    [headers['x-envarium-warning'], created.json<{ problem?: string }>().problem],
    [undefined, undefined],
  );
});
