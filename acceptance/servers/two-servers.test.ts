/** Two servers on one PostgreSQL, one of which is killed. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { OrganizationStreamEvent } from '#contract/feeds/shapes.ts';
import { startMarks } from '../marks.ts';
import { createEnvironment, homeOf, until, untilEnd } from '../runs.ts';
import { makeRepository } from '../service.ts';
import { Installation } from './installation.ts';
import { endStories, skip, startStories } from './stories.ts';

test('if one of two servers is killed, deployments, agents, followers and clients continue at the other one', {
  skip,
  timeout: 180_000,
}, async () => {
  await using marks = await startMarks(['begin']);
  await using servers = await Installation.start();
  const survivor = servers.server(1).client;
  const home = await homeOf(survivor);
  // One agent talks to each server, and one more client at first.
  const lost = await servers.startAgent(1, 0);
  await servers.startAgent(2, 1);
  const mover = servers.retryingClient(0);
  await using feed = readFeed(survivor, home.organizationId);
  await feed.isReady;
  const stories = await startStories(['first', 'second', 'third'], {
    folder: servers.folder,
    marks,
    home,
    clients: [servers.server(0).client, survivor],
    followers: [survivor, mover.client],
  });

  await servers.kill(0);
  const names = Array.from({ length: 20 }, (_, index) => `project ${index}`);
  for (const name of names) {
    const body = { name, organizationId: home.organizationId };
    await mover.client.call('createProject', { body, idempotencyKey: randomUUID() });
  }
  assert.ok(mover.repeated() > 0);
  for (const { name } of stories) marks.open(name, 'begin');
  await endStories(stories, { client: survivor, marks, database: servers.database.url });
  const projects = await survivor.call('listProjects', { query: { organizationId: home.organizationId } });
  assert.deepEqual(
    projects
      .map(({ name }) => name)
      .filter((name) => names.includes(name))
      .sort(),
    [...names].sort(),
  );
  assert.match(lost.log(), /server is unreachable/);

  const ids = stories.map(({ deploymentId }) => deploymentId);
  const statuses = await feed.untilEnded(ids);
  for (const id of ids) assert.deepEqual(statuses(id), ['IN_PROGRESS', 'SUCCESS']);
});

/** Reads the news of an organization in the background. */
function readFeed(client: Installation['servers'][number]['client'], organizationId: string) {
  const ready = Promise.withResolvers<void>();
  const seen: OrganizationStreamEvent[] = [];
  const stop = new AbortController();
  const read = async () => {
    const input = { params: { id: organizationId }, signal: stop.signal };
    for await (const event of client.stream('streamOrganization', input)) {
      if (event.event === 'ready') ready.resolve();
      seen.push(event);
    }
  };
  const reading = read().catch(() => undefined);
  const statusesOf = (id: string) =>
    seen.flatMap((event) =>
      event.event === 'deployment' && event.data.deploymentLogId === id ? [event.data.status] : [],
    );
  return {
    isReady: ready.promise,
    /** @returns the statuses of a deployment, in the order in which they were received */
    async untilEnded(ids: readonly string[]) {
      await until('the end of all deployments in the feed', () =>
        ids.every((id) => statusesOf(id).includes('SUCCESS')),
      );
      return statusesOf;
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await reading;
    },
  };
}

test('two servers with a local agent each destroy an expired environment once, whichever server its agent has', {
  skip,
  timeout: 180_000,
}, async () => {
  await using servers = await Installation.start({ settings: { ENVARIUM_BUILT_IN_AGENT: 'true' } });
  const [one, other] = [servers.server(0).client, servers.server(1).client];
  const home = await homeOf(one);
  await until('both agents', async () => (await one.call('listAgents'))[0]?.processes?.length === 2);
  const { path } = await makeRepository(servers.folder, 'expiring', {
    'main.tf': 'resource "terraform_data" "it" {}\n',
  });
  const environments = await Promise.all(
    [one, other, one, other].map((client) => createEnvironment(client, home, { repository: path })),
  );
  for (const { deploymentId } of environments) await untilEnd(other, deploymentId);
  const value = new Date(Date.now() + 1000).toISOString();
  for (const { id } of environments)
    await one.call('updateEnvironmentTtl', { params: { id }, body: { type: 'DATE', value } });
  for (const { id } of environments) {
    await until('the destroy', async () => {
      const { status } = await other.call('getEnvironment', { params: { id } });
      return status === 'INACTIVE';
    });
    const history = await one.call('listDeployments', { params: { id } });
    assert.deepEqual(
      history.map(({ type, status }) => `${type} ${status}`),
      ['destroy SUCCESS', 'deploy SUCCESS'],
    );
  }
});
