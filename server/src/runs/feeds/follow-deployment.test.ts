/** A deployment that is followed on the stream of its organization. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import { createClient } from '#contract/client/client.ts';
import { bytesOfLogEvent } from '#contract/client/log-bytes.ts';
import {
  type FollowedDeploymentEvent,
  type OrganizationStreamEvent,
  organizationEventData,
} from '#contract/feeds/shapes.ts';
import type { Job } from '#protocol/messages/job.ts';
import { checkValue } from '../../../testing/check-reply.ts';
import { startAgentTests } from '../../../testing/start.ts';

const tests = await startAgentTests();
const { app, agent, organizationId, ok, refused, sql } = tests;
const { add, keyFor, createEnvironment, createIdle, forgetWork } = tests;
const url = await app.listen();
beforeEach(() => forgetWork());

interface Following {
  readonly deploymentLogId?: string;
  readonly withLog?: boolean;
  readonly lastEventId?: string | undefined;
  readonly as?: { readonly id: string; readonly secret: string };
}

/** Reads until an event is meant, which is the last one returned. */
async function read(
  { deploymentLogId, withLog, lastEventId, as = app.admin }: Following,
  isMeant: (event: OrganizationStreamEvent, seen: readonly OrganizationStreamEvent[]) => boolean,
): Promise<OrganizationStreamEvent[]> {
  const seen: OrganizationStreamEvent[] = [];
  const client = createClient({ url, key: as.id, secret: as.secret });
  for await (const event of client.stream('streamOrganization', {
    params: { id: organizationId },
    query: { deploymentLogId, withLog },
    lastEventId,
  })) {
    checkValue(organizationEventData[event.event], event.data, event.event);
    seen.push(event);
    if (isMeant(event, seen)) break;
  }
  return seen;
}

/** The same, once the stream is open: what happens from now on is on it. @returns what it reads, as a promise in a list */
async function open(
  ...[following, isMeant]: Parameters<typeof read>
): Promise<[Promise<OrganizationStreamEvent[]>]> {
  const opened = Promise.withResolvers<void>();
  const reading = read(following, (event, seen) => {
    opened.resolve();
    return isMeant(event, seen);
  });
  await Promise.race([opened.promise, reading]);
  return [reading];
}

const followedIn = (events: readonly OrganizationStreamEvent[]): FollowedDeploymentEvent[] =>
  events.flatMap((event) => (event.event === 'deploymentEvent' ? [event.data] : []));

/** The log bytes of a step; fails if one is lost or doubled. */
function logOf(events: readonly FollowedDeploymentEvent[], name: string): Buffer {
  let log = Buffer.alloc(0);
  for (const event of events) {
    if (event.event !== 'log' || event.data.step !== name) continue;
    assert.equal(event.data.offset, log.length);
    log = Buffer.concat([log, bytesOfLogEvent(event.data)]);
  }
  return log;
}

const text = Buffer.from('plain\nünïcödé €😀\nlast line\n');

async function report(job: Job, from: number, to: number): Promise<void> {
  const base64 = text.subarray(from, to).toString('base64');
  await agent.report(job, { logs: [{ step: 'tf:plan', offset: from, base64 }] });
}

async function begin(): Promise<{ id: string; job: Job }> {
  const environment = await createEnvironment();
  const job = await agent.claim();
  await agent.report(job, {
    events: [{ kind: 'step', at: new Date().toISOString(), step: 'tf:plan', status: 'IN_PROGRESS' }],
  });
  return { id: environment.latestDeploymentLogId ?? '', job };
}

const fail = (job: Job) =>
  agent.finish(job, {
    result: 'failed',
    finishedAt: new Date().toISOString(),
    error: { message: 'no' },
  });

const isCreated = (name: string) => (event: OrganizationStreamEvent) =>
  event.event === 'environment' && event.data.name === name && event.data.change === 'created';

test('one connection carries a deployment to its end and the organization beyond it', async () => {
  const { id, job } = await begin();
  const [reading] = await open({ deploymentLogId: id }, isCreated('afterwards'));
  await report(job, 0, 9);
  await report(job, 9, text.length);
  await fail(job);
  await read(
    { deploymentLogId: id },
    (event) => event.event === 'deploymentEvent' && event.data.event === 'end',
  );
  await createIdle({ name: 'afterwards' });
  const seen = await reading;
  assert.equal(seen[0]?.event, 'ready');
  const followed = followedIn(seen);
  assert.ok(logOf(followed, 'tf:plan').equals(text));
  assert.ok(followed.every(({ deploymentLogId }) => deploymentLogId === id));
  assert.deepEqual(
    followed.filter(({ event }) => event === 'end').map(({ data }) => (data as { status: string }).status),
    ['FAILURE'],
  );
  assert.ok(seen.some(({ event }) => event === 'deployment'));
});

test('whatever the event is after which a connection is cut, the next one loses and doubles nothing', async () => {
  const { id, job } = await begin();
  let all: OrganizationStreamEvent[] = [];
  const [last] = await open({ deploymentLogId: id }, isCreated('the last'));
  const reading = last.then((seen) => (all = seen));
  for (let at = 0; at < text.length; at += 5) {
    await report(job, at, Math.min(text.length, at + 5));
    await createIdle({ name: `while ${at}` });
  }
  await fail(job);
  await read(
    { deploymentLogId: id },
    (event) => event.event === 'deploymentEvent' && event.data.event === 'end',
  );
  await createIdle({ name: 'the last' });
  await reading;
  // A resumed stream may bring the bytes of several events in one.
  const contentOf = (events: readonly OrganizationStreamEvent[]) => ({
    organization: events.flatMap(({ event, data }) =>
      event === 'ready' || event === 'deploymentEvent' ? [] : [[event, data]],
    ),
    deployment: followedIn(events).filter(({ event }) => event !== 'log'),
    log: logOf(followedIn(events), 'tf:plan').toString(),
  });
  for (const [index, { id: lastEventId }] of all.slice(0, -1).entries()) {
    let hasEnd = followedIn(all.slice(0, index + 1)).some(({ event }) => event === 'end');
    let hasLast = false;
    const rest = await read({ deploymentLogId: id, lastEventId }, (event) => {
      hasLast ||= isCreated('the last')(event);
      hasEnd ||= event.event === 'deploymentEvent' && event.data.event === 'end';
      return hasLast && hasEnd;
    });
    assert.deepEqual(
      contentOf([...all.slice(0, index + 1), ...rest]),
      contentOf(all),
      `after event ${index}`,
    );
  }
});

test('a reader that turns to another deployment misses nothing of the organization', async () => {
  const first = await begin();
  const [ready] = await read({ deploymentLogId: first.id }, () => true);
  const seen = await read(
    { deploymentLogId: first.id, lastEventId: ready?.id },
    (event) => event.event === 'deploymentEvent',
  );
  await createIdle({ name: 'meanwhile' });
  const second = await begin();
  await report(second.job, 0, text.length);
  const turned = await read(
    { deploymentLogId: second.id, lastEventId: seen.at(-1)?.id },
    (_, events) =>
      events.some(isCreated('meanwhile')) && logOf(followedIn(events), 'tf:plan').length === text.length,
  );
  assert.ok(followedIn(turned).every(({ deploymentLogId }) => deploymentLogId === second.id));
  const without = await read({ lastEventId: turned.at(-1)?.id }, ({ event }) => event === 'ready');
  assert.equal(without.length, 1);
  await fail(second.job);
});

test('a reader that needs no log gets none, and all of it once it asks', async () => {
  const { id, job } = await begin();
  await report(job, 0, text.length);
  await fail(job);
  const isEnd = (event: OrganizationStreamEvent) =>
    event.event === 'deploymentEvent' && event.data.event === 'end';
  const without = await read({ deploymentLogId: id, withLog: false }, isEnd);
  const names = followedIn(without).map(({ event }) => event);
  assert.deepEqual([names.includes('log'), names.includes('step'), names.at(-1)], [false, true, 'end']);
  const client = createClient({ url, key: app.admin.id, secret: app.admin.secret });
  for await (const { event } of client.stream('streamDeployment', {
    params: { id },
    query: { withLog: false },
  }))
    assert.notEqual(event, 'log');
  // Cut before the end: a position that has seen the end has seen the logs before it.
  const before = without.at(-2);
  const rest = await read({ deploymentLogId: id, lastEventId: before?.id }, isEnd);
  assert.ok(logOf(followedIn(rest), 'tf:plan').equals(text));
});

test('log events say when their bytes arrived', async () => {
  const { id, job } = await begin();
  await report(job, 0, 9);
  await sql(
    `update log_chunk set stored_at = '2026-01-02T03:04:05.678Z' where step_id in
    (select id from deployment_step where deployment_id = $1)`,
    id,
  );
  await report(job, 9, text.length);
  const seen = await read(
    { deploymentLogId: id },
    (_, events) => logOf(followedIn(events), 'tf:plan').length === text.length,
  );
  const logs = followedIn(seen).flatMap((event) => (event.event === 'log' ? [event.data] : []));
  assert.equal(logs.length, 2);
  const { events: lines } = await ok('getStepLog', { params: { deploymentLogId: id, name: 'tf:plan' } });
  assert.equal(logs[0]?.at, '2026-01-02T03:04:05.678Z');
  assert.deepEqual([logs[0].at, logs[1]?.at], [lines[0]?.timestamp, lines.at(-1)?.timestamp]);
});

test('a deployment that does not exist, is of another organization or may not be seen is refused', async () => {
  const { id } = await begin();
  const following = (deploymentLogId: string) => ({ id: organizationId, query: { deploymentLogId } });
  const { id: elsewhere } = await ok('createOrganization', { body: { name: 'Elsewhere' } });
  const [project] = await ok('listProjects', { query: { organizationId: elsewhere } });
  const foreign = await createIdle({ organizationId: elsewhere, projectId: project?.id });
  for (const unknown of [randomUUID(), 'x', foreign.latestDeploymentLogId ?? '']) {
    const { message } = await refused('streamOrganization', 400, following(unknown));
    assert.match(message, /query\/deploymentLogId does not match any deployment/);
  }
  const other = await add('Project', 'other');
  const as = await keyFor('Viewer', { projectId: other.id });
  const { message } = await refused('streamOrganization', 403, { ...following(id), as });
  assert.match(message, /query\/deploymentLogId needs the right VIEW_ENVIRONMENT/);
});

test('a follower who loses the right to see the deployment is disconnected, and then refused', async () => {
  const { id, job } = await begin();
  const other = await add('Project', 'remaining');
  const as = await app.addKey({ [organizationId]: 'User' }, [
    { organizationId, projectId: other.id, role: 'Viewer' },
    { organizationId, projectId: app.projectId, role: 'Viewer' },
  ]);
  await report(job, 0, 9);
  let heard: readonly OrganizationStreamEvent[] = [];
  const hasBegun = Promise.withResolvers<void>();
  const reading = read({ deploymentLogId: id, as }, (_, seen) => {
    heard = seen;
    if (logOf(followedIn(seen), 'tf:plan').length === 9) hasBegun.resolve();
    return false;
  });
  await Promise.race([hasBegun.promise, reading]);
  await sql('delete from role_assignment where user_id = $1 and project_id = $2', as.id, app.projectId);
  app.advance(2);
  await report(job, 9, text.length);
  await assert.rejects(reading, /deploymentLogId needs the right VIEW_ENVIRONMENT/);
  assert.equal(logOf(followedIn(heard), 'tf:plan').length, 9);
});
