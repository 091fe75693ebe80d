/** Environments that expire, move and are archived, on the real tool. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '#contract/client/client.ts';
import type { OrganizationStreamEvent } from '#contract/feeds/shapes.ts';
import { withoutTerraform } from '../programs.ts';
import { createEnvironment, deploy, destroy, untilEnd, wholeLog } from '../runs.ts';
import { makeRepository } from '../service.ts';
import { joinOneService } from './join-one-service.ts';

const configuration = `resource "terraform_data" "told" {
  triggers_replace = timestamp()
  provisioner "local-exec" { command = "env | grep ^ENVARIUM_ | sort" }
}
`;

const service = await joinOneService();
const { client, home } = service;
const { path: repository } = await makeRepository(service.folder, 'told', { 'main.tf': configuration });

/** Reads the organization's stream until something happens. */
async function untilEvent(
  isMeant: (event: OrganizationStreamEvent) => boolean,
  started: () => Promise<unknown>,
): Promise<OrganizationStreamEvent[]> {
  const seen: OrganizationStreamEvent[] = [];
  const input = { params: { id: home.organizationId }, signal: AbortSignal.timeout(60_000) };
  for await (const event of client.stream('streamOrganization', input)) {
    if (event.event === 'ready') await started();
    seen.push(event);
    if (isMeant(event)) break;
  }
  return seen;
}

test('an environment can be moved, is destroyed when it expires, and its runs know their place', {
  timeout: 120_000,
  skip: withoutTerraform,
}, async () => {
  const { organizationId } = home;
  const platform = await client.call('createProject', { body: { organizationId, name: 'platform' } });
  const network = await client.call('createProject', {
    body: { organizationId, name: 'network', parentProjectId: platform.id },
  });
  let id = '';
  const events = await untilEvent(
    (event) =>
      event.event === 'deployment' && event.data.type === 'destroy' && event.data.status === 'SUCCESS',
    async () => {
      const created = await createEnvironment(client, home, { repository, name: 'Short lived' });
      id = created.id;
      await untilEnd(client, created.deploymentId);
      const value = new Date(Date.now() + 2000).toISOString();
      await client.call('updateEnvironmentTtl', { params: { id }, body: { type: 'DATE', value } });
    },
  );
  const statuses = events.flatMap((event) =>
    event.event === 'deployment' ? [`${event.data.type} ${event.data.status}`] : [],
  );
  assert.deepEqual(statuses, [
    'deploy IN_PROGRESS',
    'deploy SUCCESS',
    'destroy IN_PROGRESS',
    'destroy SUCCESS',
  ]);
  assert.ok(
    events.some(
      (event) => event.event === 'step' && event.data.name === 'tf:apply' && event.data.status === 'SUCCESS',
    ),
  );
  const ended = await client.call('getEnvironment', { params: { id } });
  assert.deepEqual(
    [ended.status, ended.latestDeploymentLog.trigger, ended.latestDeploymentLog.resourceCount],
    ['INACTIVE', 'ttl', 0],
  );

  await client.call('moveEnvironment', { params: { id }, body: { projectId: network.id } });
  await assert.rejects(
    deploy(client, id),
    (error) => error instanceof ApiError && /\/body\/ttl is required/.test(error.message),
  );
  const again = await deploy(client, id, { ttl: { type: 'INFINITE' } });
  await untilEnd(client, again.id);
  const log = await wholeLog(client, again.id);
  for (const line of [
    'ENVARIUM_ENVIRONMENT_NAME=Short lived',
    'ENVARIUM_ENVIRONMENT_NAME_NORMALIZED=short-lived',
    'ENVARIUM_PROJECT_NAME=network',
    'ENVARIUM_PARENT_PROJECT_PATH=platform',
    `ENVARIUM_TEMPLATE_REPOSITORY=${repository}`,
    `ENVARIUM_DEPLOYMENT_LOG_ID=${again.id}`,
  ])
    assert.ok(log.includes(line), line);
  assert.equal((await client.call('listStateVersions', { params: { id } })).length >= 3, true);

  await client.call('updateEnvironment', { params: { id }, body: { isArchived: true } });
  await assert.rejects(
    destroy(client, id),
    (error) => error instanceof ApiError && error.status === 409 && /archived/.test(error.message),
  );
  await client.call('updateEnvironment', { params: { id }, body: { isArchived: false } });
  assert.equal((await client.call('getEnvironment', { params: { id } })).status, 'ACTIVE');
});
