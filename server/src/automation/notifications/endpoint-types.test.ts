import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { SMTPServer } from 'smtp-server';
import { openReceiver } from '../../../testing/receiver.ts';
import { startTests } from '../../../testing/start.ts';
import { deliverDue } from './delivery/courier.ts';

interface Mail {
  readonly to: readonly string[];
  readonly text: string;
}

const mails: Mail[] = [];
/** Codes by recipient. */
const refused = new Map<string, number>();
const mailServer = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  onRcptTo: ({ address }, _session, done) => {
    const responseCode = refused.get(address);
    done(responseCode === undefined ? null : Object.assign(new Error('not this one'), { responseCode }));
  },
  onData: (stream, { envelope: { rcptTo } }, done) => {
    const store = async () => {
      mails.push({ to: rcptTo.map(({ address }) => address), text: await text(stream) });
      done(null);
    };
    void store();
  },
});
const listening = mailServer.listen(0, '127.0.0.1');
await once(listening, 'listening');
after(
  () =>
    new Promise<void>((resolve) => {
      mailServer.close(resolve);
    }),
);

const tests = await startTests({
  ENVARIUM_NOTIFICATION_NETWORKS: '127.0.0.1',
  ENVARIUM_NOTIFICATION_HTTP_HOSTS: '127.0.0.1',
  ENVARIUM_BASE_URL: 'https://envarium.example.com',
  ENVARIUM_SMTP_HOST: '127.0.0.1',
  ENVARIUM_SMTP_PORT: String((listening.address() as AddressInfo).port),
  ENVARIUM_SMTP_TLS: 'opportunistic',
  ENVARIUM_SMTP_FROM: 'envarium@example.com',
});
const { app, ok, sql, createIdle, deploy } = tests;
const receiver = await openReceiver();

test('every type of endpoint gets an event in its own form', async () => {
  const { organizationId, projectId } = app;
  const values = {
    Slack: `${receiver.address}/slack`,
    Teams: `${receiver.address}/teams`,
    Webhook: `${receiver.address}/webhook`,
    Email: 'team@example.com, $ENVIRONMENT_CREATOR$',
  };
  for (const [type, value] of Object.entries(values)) {
    const body = { organizationId, name: type, type, value };
    const { id: endpointId } = await ok('createNotificationEndpoint', { body });
    const params = { projectId, endpointId };
    await ok('assignNotificationEndpoint', { params, body: { eventNames: ['environmentDeployStarted'] } });
  }
  const { id: environmentId } = await createIdle({ name: '<!channel> & co' });
  // People have mailboxes; the key that created it has none.
  await sql(`insert into app_user (id, name, email) values ('ada', 'Ada', 'ada@example.com')`);
  await sql(`update environment set user_id = 'ada' where id = $1`, environmentId);
  const { id } = await deploy(environmentId, { comment: 'first\nsecond' });
  await deliverDue(app.context);
  const { deliveries } = await ok('listNotificationDeliveries', { query: { organizationId } });
  assert.deepEqual(
    deliveries.map(({ status, error }) => [status, error]),
    Array.from({ length: 4 }, () => ['delivered', undefined]),
  );
  assert.equal(new Set(deliveries.map(({ eventId }) => eventId)).size, 1);
  const bodyOf = (path: string) => receiver.received.find((each) => each.path === path)?.body ?? '';
  const link = `https://envarium.example.com/deployments/${id}`;
  const slack = JSON.parse(bodyOf('/slack')) as { text: string };
  assert.equal(slack.text, 'Deploy started: &lt;!channel&gt; &amp; co');
  for (const path of ['/slack', '/teams', '/webhook']) assert.ok(bodyOf(path).includes(link), path);
  assert.match(bodyOf('/teams'), /"contentType":"application\/vnd\.microsoft\.card\.adaptive"/);
  const [mail] = mails;
  assert.deepEqual(mail?.to, ['team@example.com', 'ada@example.com']);
  assert.match(mail?.text ?? '', /^Subject: \[Envarium\] Deploy started: <!channel> & co\r$/m);
  assert.match(mail?.text ?? '', /^Comment: first second\r$/m);
});

test('long texts are cut between characters, and sent once', async () => {
  mails.length = 0;
  receiver.received.length = 0;
  const { id: environmentId } = await createIdle({ name: `${'n'.repeat(5)}😀` });
  await deploy(environmentId, { comment: `${'c'.repeat(299)}😀 and more` });
  await deliverDue(app.context);
  const query = { organizationId: app.organizationId, environmentId };
  const { deliveries } = await ok('listNotificationDeliveries', { query });
  assert.deepEqual(
    deliveries.map(({ status, attempts }) => [status, attempts]),
    Array.from({ length: 4 }, () => ['delivered', 1]),
  );
  assert.equal(mails.length, 1);
  for (const { body } of receiver.received) assert.doesNotMatch(body, /\\ud83d/i);
});

test('an e-mail is sent again only to whom it was refused for now, and fails for whom it was refused for good', async () => {
  mails.length = 0;
  const { organizationId } = app;
  const { projectId } = app;
  const [ada, ben, eve] = ['ada@example.com', 'ben@example.com', 'eve@example.com'];
  const body = { organizationId, name: 'three', type: 'Email' as const, value: [ada, ben, eve].join(',') };
  const { id: endpointId } = await ok('createNotificationEndpoint', { body });
  const assigned = { eventNames: ['environmentDeployStarted' as const] };
  await ok('assignNotificationEndpoint', { params: { projectId, endpointId }, body: assigned });
  const { id: environmentId } = await createIdle({ name: 'three' });
  refused.set(ben, 451);
  refused.set(eve, 550);
  await deploy(environmentId);
  const delivery = async () => {
    await deliverDue(app.context);
    const query = { organizationId, endpointId };
    const { deliveries } = await ok('listNotificationDeliveries', { query });
    return deliveries[0] ?? assert.fail('no delivery');
  };
  const sentTo = () => mails.splice(0).map(({ to }) => to);
  const first = await delivery();
  assert.equal(first.status, 'waiting');
  assert.match(first.error ?? '', /refused 2 of 3 recipients: ben@.*451 .*; eve@.*550 /);
  const firstTo = sentTo().filter((to) => !to.includes('team@example.com'));
  assert.deepEqual(firstTo, [[ada]]);
  refused.delete(ben);
  app.advance(60);
  const last = await delivery();
  assert.deepEqual([last.status, last.attempts, sentTo()], ['failed', 2, [[ben]]]);
  assert.match(last.error ?? '', /refused 1 of 2 recipients: eve@example\.com: 550 not this one/);
  const test = await ok('testNotificationEndpoint', { id: endpointId });
  assert.match(test.error?.message ?? '', /refused 1 of 3 recipients: eve@/);
  refused.clear();
  sentTo();
  await ok('resendNotificationDelivery', { id: last.id });
  assert.equal((await delivery()).status, 'delivered');
  assert.deepEqual(sentTo(), [[ada, ben, eve]]);
});
