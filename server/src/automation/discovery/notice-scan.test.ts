import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, test } from 'node:test';
import { gitFolder } from '../../../testing/git-repository.ts';
import { openReceiver } from '../../../testing/receiver.ts';
import { startTests } from '../../../testing/start.ts';
import { deliverDue } from '../notifications/delivery/courier.ts';

const folder = gitFolder();
after(() => folder[Symbol.dispose]());
const { app, organizationId, projectId, ok, sql } = await startTests({
  ENVARIUM_GIT_LOCAL_PATHS: folder.path,
  ENVARIUM_NOTIFICATION_NETWORKS: '127.0.0.1',
  ENVARIUM_NOTIFICATION_HTTP_HOSTS: '127.0.0.1',
  ENVARIUM_BASE_URL: 'https://envarium.example.com',
});
const receiver = await openReceiver();
const params = { projectId };
const code = (name: string) => ({ [`${name}/main.tf`]: `output "name" { value = "${name}" }\n` });

interface HeardEvent {
  readonly type: string;
  readonly data: {
    readonly environment: unknown;
    readonly discovery: { readonly reason: string; readonly repository: string };
    readonly project: { readonly id: string };
    readonly link: string;
  };
}

/** Events that the endpoint has received since the last call. */
async function heard(): Promise<HeardEvent[]> {
  await deliverDue(app.context);
  return receiver.received.splice(0).map(({ body }) => JSON.parse(String(body)) as HeardEvent);
}

async function scan(): Promise<void> {
  await ok('startDiscoveryScan', { params });
  await app.carryOutEffects();
}

const { id: endpointId } = await ok('createNotificationEndpoint', {
  body: { organizationId, name: 'platform', type: 'Webhook', value: receiver.address },
});
await ok('assignNotificationEndpoint', {
  params: { projectId, endpointId },
  body: { eventNames: ['environmentDiscoveryFailed', 'environmentDiscoveryWaitingForUser'] },
});

test('people hear once of folders that fail, of a scan that waits, and of one that fails', async () => {
  const repository = folder.repository('live', { ...code('a'), ...code('b'), ...code('c') });
  const globPattern = '*/main.tf';
  const body = { repository: repository.path, globPattern, onRemoval: 'archive', removalLimitPercent: 0 };
  await ok('updatePolicy', { body: { projectId, numberOfEnvironmentsTotal: 2 } });
  await ok('setDiscovery', { params, body });
  await app.carryOutEffects();
  const [tooMany, ...others] = await heard();
  assert.equal(others.length, 0);
  assert.equal(tooMany?.type, 'com.envarium.discovery.failed');
  assert.match(tooMany.data.discovery.reason, /^1 folder or entry failed/);
  assert.equal(tooMany.data.discovery.repository, repository.path);
  assert.equal(tooMany.data.environment, null);
  assert.equal(tooMany.data.project.id, projectId);
  assert.equal(tooMany.data.link, `https://envarium.example.com/projects/${projectId}?tab=discovery`);
  assert.equal((await ok('getDiscoveryState', { params })).lastScan?.failed, 1);
  await scan();
  assert.deepEqual(await heard(), []);

  repository.git('rm', '-rq', 'a');
  repository.git('commit', '-qm', 'remove');
  await scan();
  const [waiting] = await heard();
  assert.equal(waiting?.type, 'com.envarium.discovery.waiting');
  assert.match(waiting.data.discovery.reason, /removalLimitPercent/);

  rmSync(repository.path, { recursive: true });
  await scan();
  await scan();
  const failures = await heard();
  assert.deepEqual(
    failures.map(({ type }) => type),
    ['com.envarium.discovery.failed'],
  );
  assert.match(failures[0]?.data.discovery.reason ?? '', /does not exist/);
});

test('the log of deliveries shows events that are of no environment', async () => {
  const { deliveries } = await ok('listNotificationDeliveries', { query: { organizationId } });
  assert.ok(deliveries.length >= 3);
  for (const delivery of deliveries) {
    assert.equal(delivery.projectId, projectId);
    assert.equal(delivery.environmentId, undefined);
  }
  const [{ count } = { count: null }] = await sql(
    'select count(*)::integer from notification_delivery where environment_id is null',
  );
  assert.equal(count, deliveries.length);
});
