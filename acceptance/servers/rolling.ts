/** Servers are stopped and started one after the other, as for an upgrade, while clients and runs use them. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Client, createClient } from '#contract/client/client.ts';
import { startMarks } from '../marks.ts';
import { createEnvironment, type Home, homeOf, until, untilEnd } from '../runs.ts';
import { makeRepository } from '../service.ts';
import { atServer, Installation } from './installation.ts';
import { endStories, startStories } from './stories.ts';

const requestEveryMilliseconds = 50;
const checkEveryMilliseconds = 100;

export interface Rolling {
  readonly stopDelaySeconds: number;
  /** Requests of each client; more if the servers need longer. */
  readonly leastRequests: number;
  /** Whether one more client, which never repeats a request, uses the servers that are ready. */
  readonly isBalanced: boolean;
}

export async function roll({ stopDelaySeconds, leastRequests, isBalanced }: Rolling): Promise<void> {
  await using marks = await startMarks(['begin']);
  await using servers = await Installation.start({
    settings: { ENVARIUM_STOP_DELAY_SECONDS: String(stopDelaySeconds) },
  });
  const retrying = servers.retryingClient(0);
  const home = await homeOf(retrying.client);
  await servers.startAgent(1, 0);
  await servers.startAgent(2, 1);
  const stories = await startStories(['first', 'second'], {
    folder: servers.folder,
    marks,
    home,
    clients: [retrying.client],
    followers: [retrying.client],
  });
  const { path } = await makeRepository(servers.folder, 'more', {
    'main.tf': 'resource "terraform_data" "it" {}\n',
  });
  let isRolling = true;
  await using balanced = isBalanced ? balancedClient(servers) : undefined;
  const loads = [retrying.client, ...(balanced ? [balanced.client] : [])].map((client) =>
    load(client, home, (sent) => isRolling || sent < leastRequests),
  );
  // A failure is reported below, after the servers were replaced.
  const done = Promise.allSettled(loads);
  const more: string[] = [];
  for (const index of servers.servers.keys()) {
    await servers.server(index).stop();
    assert.equal(servers.server(index).process.exitCode, 0);
    const created = await createEnvironment(retrying.client, home, {
      name: `more ${index}`,
      repository: path,
    });
    more.push(created.deploymentId);
    await servers.startServer(index);
    await balanced?.untilReady(index);
  }
  isRolling = false;
  await done;
  const counts = await Promise.all(loads);
  const client = servers.server(0).client;
  const projects = await client.call('listProjects', { query: { organizationId: home.organizationId } });
  const created = projects.filter(({ name }) => name.startsWith('load '));
  assert.equal(
    created.length,
    counts.reduce((sum, each) => sum + each.created, 0),
    'each project was created once',
  );
  for (const id of more) await untilEnd(client, id);
  for (const { name } of stories) marks.open(name, 'begin');
  await endStories(stories, { client, marks, database: servers.database.url });
}

/** Sends requests of several kinds, one after the other. @returns how many created something */
async function load(
  client: Client,
  { organizationId }: Home,
  isGoingOn: (sent: number) => boolean,
): Promise<{ readonly created: number }> {
  let created = 0;
  for (let sent = 0; isGoingOn(sent); sent++) {
    if (sent % 4 === 0) {
      const body = { name: `load ${randomUUID()}`, organizationId };
      await client.call('createProject', { body, idempotencyKey: randomUUID() });
      created++;
    } else if (sent % 4 === 1) await client.call('listAgents');
    else await client.call('listEnvironments', { query: { organizationId } });
    await delay(requestEveryMilliseconds);
  }
  return { created };
}

/** Behaves as a load balancer: checks regularly which servers are ready, and repeats nothing. */
function balancedClient(servers: Installation) {
  const { urls } = servers;
  const { key, secret } = servers.server(0);
  const ready = new Set(urls);
  const closing = new AbortController();
  const check = async () => {
    while (!closing.signal.aborted) {
      for (const url of urls) {
        const { status } = await fetch(`${url}/readyz`).catch(() => ({ status: 0 }));
        if (status === 200) ready.add(url);
        else ready.delete(url);
      }
      await delay(checkEveryMilliseconds);
    }
  };
  const checking = check();
  let turn = 0;
  const send: typeof fetch = (input, init) => {
    const [...usable] = ready;
    return fetch(atServer(usable[turn++ % usable.length], input), init);
  };
  return {
    client: createClient({ url: urls[0] ?? '', key, secret, fetch: send }),
    untilReady: (index: number) => until('a ready server', () => ready.has(urls[index] ?? '')),
    async [Symbol.asyncDispose]() {
      closing.abort();
      await checking;
    },
  };
}
