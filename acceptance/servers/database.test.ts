/** The PostgreSQL that servers share is restarted without a shutdown, or has no connection left for them. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Client as Connection } from 'pg';
import { ApiError, type Client } from '#contract/client/client.ts';
import { startMarks } from '../marks.ts';
import { type Home, homeOf, until } from '../runs.ts';
import { Installation } from './installation.ts';
import { endStories, skip, startStories } from './stories.ts';

let servers: Installation;

const patienceMilliseconds = 60_000;

const settings = {
  ENVARIUM_BUILT_IN_AGENT: 'true',
  ENVARIUM_AGENT_CONCURRENCY: '3',
  ENVARIUM_LOG_LEVEL: 'error',
};

before(async () => {
  if (skip === false) servers = await Installation.start({ servers: 1, maxConnections: 40, settings });
});
after(() => servers?.[Symbol.asyncDispose]());

test('if PostgreSQL is restarted immediately under load, requests get 503 at most, and nothing is lost or done twice', {
  skip,
  timeout: 180_000,
}, async () => {
  await using marks = await startMarks(['begin']);
  const { client } = servers.server(0);
  const home = await homeOf(client);
  const stories = await startStories(['first', 'second', 'third'], {
    folder: servers.folder,
    marks,
    home,
    clients: [client],
    followers: [client],
  });
  let isOver = false;
  const writers = Array.from({ length: 4 }, () => write(client, home, () => isOver));
  const written = Promise.allSettled(writers);
  for (const { name } of stories) {
    // Its run ends while the database is away, or just when it goes.
    marks.open(name, 'begin');
    await servers.database.stopImmediately();
    await until('the end of the command', () => marks.of(name).includes('end'));
    await servers.database.start();
    await until('the service', () => listProjects(client, home).catch(unlessUnavailable));
  }
  isOver = true;
  await written;
  const projects = (await Promise.all(writers)).flat();
  const listed = await listProjects(client, home);
  assert.deepEqual(
    listed
      .map(({ name }) => name)
      .filter((name) => projects.includes(name))
      .sort(),
    projects.sort(),
  );
  await endStories(stories, { client, marks, database: servers.database.url });
});

function listProjects(client: Client, { organizationId }: Home) {
  return client.call('listProjects', { query: { organizationId } });
}

/** Creates projects until it is over, each sent again until it is answered. @returns their names */
async function write(client: Client, { organizationId }: Home, isOver: () => boolean): Promise<string[]> {
  const written: string[] = [];
  while (!isOver()) {
    const name = `written ${randomUUID()}`;
    const body = { name, organizationId };
    const idempotencyKey = randomUUID();
    await until('a project', () =>
      client.call('createProject', { body, idempotencyKey }).catch(unlessUnavailable),
    );
    written.push(name);
    await delay(20);
  }
  return written;
}

/** @throws every error but the service's "not now" */
function unlessUnavailable(error: unknown): null {
  if (error instanceof ApiError && error.status === 503) return null;
  throw error;
}

test('while PostgreSQL has no connection left, requests are refused with that reason, and runs lose nothing', {
  skip,
  timeout: 180_000,
}, async () => {
  await using marks = await startMarks(['begin']);
  const { client, url, key, secret } = servers.server(0);
  const home = await homeOf(client);
  const stories = await startStories(['fourth', 'fifth'], {
    folder: servers.folder,
    marks,
    home,
    clients: [client],
    followers: [client],
  });
  {
    await using _others = await occupy(servers.database.url);
    const authorization = `Basic ${Buffer.from(`${key}:${secret}`).toString('base64')}`;
    const answer = await until('a refusal', async () => {
      const response = await fetch(`${url}/api/organizations`, { headers: { authorization } });
      const text = await response.text();
      return text.includes('connection left') && { status: response.status, headers: response.headers, text };
    });
    assert.equal(answer.status, 503);
    assert.match(answer.text, /The database has no connection left: .* raise its max_connections/);
    assert.ok(Number(answer.headers.get('retry-after')) > 0);
    assert.equal((await fetch(`${url}/readyz`)).status, 503);
    for (const { name } of stories) marks.open(name, 'begin');
    for (const { name } of stories)
      await until('the end of the command', () => marks.of(name).includes('end'));
  }
  await until('the service', () => listProjects(client, home).catch(unlessUnavailable));
  await endStories(stories, { client, marks, database: servers.database.url });
});

/** Takes all connections, and those of the service as soon as they are free. */
async function occupy(url: string): Promise<AsyncDisposable> {
  const held: Connection[] = [];
  const connect = async () => {
    const connection = new Connection({ connectionString: url, application_name: 'others' });
    connection.on('error', () => undefined);
    await connection.connect();
    held.push(connection);
  };
  await connect();
  const [first] = held;
  const takeAll = async () => {
    for (;;) {
      // Several at once: the service, too, connects again as soon as one is free.
      const taken = await Promise.allSettled([connect(), connect(), connect(), connect()]);
      if (taken.every(({ status }) => status === 'rejected')) return;
    }
  };
  const deadline = Date.now() + patienceMilliseconds;
  for (;;) {
    await takeAll();
    const { rows } = await first!.query<{ pid: number }>(
      `select pid, pg_terminate_backend(pid) from pg_stat_activity
       where backend_type = 'client backend' and application_name <> 'others'`,
    );
    if (rows.length === 0) break;
    assert.ok(Date.now() < deadline, 'the service has connections again and again');
  }
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(held.map((connection) => connection.end()));
    },
  };
}
