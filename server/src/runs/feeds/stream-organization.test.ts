import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { createClient } from '#contract/client/client.ts';
import { type OrganizationStreamEvent, organizationEventData } from '#contract/feeds/shapes.ts';
import { checkValue } from '../../../testing/check-reply.ts';
import { basic } from '../../../testing/client.ts';
import { fieldOf } from '../../../testing/fields.ts';
import { startAgentTests } from '../../../testing/start.ts';
import { getEnvironmentRow } from '../../rows/environments/environment-store.ts';
import type { FirstKey } from '../../start/bootstrap.ts';
import { decodePosition } from './organization-cursor.ts';
import { forgetOrganizationEvents, recordEnvironmentEvent } from './organization-events.ts';
import { joinFeed } from './organization-feed.ts';

const tests = await startAgentTests();
const { app, agent, organizationId, call, ok, refused, add, createEnvironment, createIdle, deploy } = tests;
const url = await app.listen();
const client = createClient({ url, key: app.admin.id, secret: app.admin.secret });

/**
 * Reads a stream as it comes; ended with its controller. A reader may also receive events from just before it
 * came: tests go by the environments that they created afterwards.
 */
function open(more: { lastEventId?: string; projectId?: string; organizationId?: string } = {}) {
  const controller = new AbortController();
  const { lastEventId, projectId } = more;
  const events = client.stream('streamOrganization', {
    params: { id: more.organizationId ?? organizationId },
    ...(projectId ? { query: { projectId } } : {}),
    lastEventId,
    signal: controller.signal,
  });
  const next = async (): Promise<OrganizationStreamEvent> => {
    const event = (await events.next()).value as OrganizationStreamEvent;
    checkValue(organizationEventData[event.event], event.data, event.event);
    return event;
  };
  /** Up to the first event that is meant. */
  const until = async (
    isMeant: (event: OrganizationStreamEvent) => boolean,
  ): Promise<OrganizationStreamEvent[]> => {
    for (const seen: OrganizationStreamEvent[] = []; ; ) {
      const event = await next();
      seen.push(event);
      if (isMeant(event)) return seen;
    }
  };
  const close = async () => {
    controller.abort();
    await events.return(undefined).catch(() => undefined);
  };
  return { next, until, close };
}

/** Changes of some environments, as `name change`. */
function changesOf(events: readonly OrganizationStreamEvent[], ...ids: string[]): string[] {
  return events.flatMap(({ event, data }) =>
    event === 'environment' && ids.includes(data.environmentId) ? [`${data.name} ${data.change}`] : [],
  );
}

const isChange = (id: string, change: string) => (event: OrganizationStreamEvent) =>
  event.event === 'environment' && event.data.environmentId === id && event.data.change === change;
const isArchived = (id: string) => isChange(id, 'archived');
const archive = (id: string) => ok('updateEnvironment', { id, body: { isArchived: true } });

test('readers hear of environments, of deployments and of their steps, in the order in which they happened', async () => {
  const stream = open();
  assert.equal((await stream.next()).event, 'ready');
  const environment = await createEnvironment({ requiresApproval: false });
  const job = await agent.claim();
  await agent.report(job, {
    events: [{ kind: 'step', at: new Date().toISOString(), step: 'git:clone', status: 'IN_PROGRESS' }],
  });
  await ok('abortDeployment', { id: environment.latestDeploymentLogId ?? '' });
  await ok('setEnvironmentLock', { id: environment.id, body: { isLocked: true } });
  const seen = await stream.until(isChange(environment.id, 'locked'));
  const announced = seen.map((event) => {
    if (event.event === 'deployment')
      return `${event.data.type} ${event.data.status} ${event.data.environmentStatus}`;
    if (event.event === 'step') return `${event.data.name} ${event.data.status}`;
    return event.event === 'environment' ? event.data.change : event.event;
  });
  assert.deepEqual(announced, [
    'created',
    'deploy IN_PROGRESS DEPLOY_IN_PROGRESS',
    'git:clone IN_PROGRESS',
    'deploy ABORTING ABORTING',
    'locked',
  ]);
  for (const event of seen)
    assert.equal((event.data as { environmentId: string }).environmentId, environment.id);
  await stream.close();
});

test('a reader that resumes gets what it missed, once and without a gap', async () => {
  const first = open();
  const ready = await first.next();
  const one = await createIdle({ name: 'one' });
  const seen = await first.until(isChange(one.id, 'created'));
  await first.close();
  const two = await createIdle({ name: 'two' });
  await archive(one.id);
  for (const [from, expected] of [
    [seen.at(-1)?.id, ['two created', 'one archived']],
    [ready.id, ['one created', 'two created', 'one archived']],
  ] as const) {
    const again = open({ lastEventId: from });
    assert.equal((await again.next()).event, 'ready');
    assert.deepEqual(changesOf(await again.until(isArchived(one.id)), one.id, two.id), expected);
    await again.close();
  }
});

test('an event of a late transaction arrives in its place, and no earlier event is skipped', async () => {
  const stream = open();
  await stream.next();
  const { id } = await createIdle({ name: 'slow' });
  const other = await createIdle({ name: 'quick' });
  const row = await getEnvironmentRow(app.context.db, id);
  const started = Promise.withResolvers<void>();
  const mayEnd = Promise.withResolvers<void>();
  assert.ok(row);
  // Not by `inTransaction`, which writes events right before the commit.
  const slow = app.context.db.transaction().execute(async (tx) => {
    await recordEnvironmentEvent({ ...app.context, db: tx }, row, 'updated');
    started.resolve();
    await mayEnd.promise;
  });
  await started.promise;
  await archive(other.id);
  mayEnd.resolve();
  await slow;
  const changes = changesOf(await stream.until(isArchived(other.id)), id, other.id);
  assert.deepEqual(changes, ['slow created', 'quick created', 'slow updated', 'quick archived']);
  await stream.close();
});

test('readers of one project hear only of that, including what leaves it', async () => {
  const project = await add('Project', 'alone');
  const stream = open({ projectId: project.id });
  await stream.next();
  await createIdle({ name: 'elsewhere' });
  const inside = await createIdle({ name: 'inside', projectId: project.id });
  await ok('moveEnvironment', { id: inside.id, body: { projectId: app.projectId } });
  await archive(inside.id);
  const back = await createIdle({ name: 'last', projectId: project.id });
  await archive(back.id);
  const announced = (await stream.until(isArchived(back.id)))
    // The reader may also hear that the project was created.
    .filter(({ event }) => event !== 'changed')
    .map((event) =>
      event.event === 'environment' ? `${event.data.name} ${event.data.change}` : event.event,
    );
  assert.deepEqual(announced, ['inside created', 'inside moved', 'last created', 'last archived']);
  await stream.close();
});

test('a reader learns that events were removed, and continues from now', async () => {
  const stream = open();
  const { id: early } = await stream.next();
  await stream.close();
  app.advance(8 * 86_400);
  await forgetOrganizationEvents(app.context);
  const again = open({ lastEventId: early });
  assert.equal((await again.next()).event, 'reset');
  const { id } = await createIdle({ name: 'after' });
  await archive(id);
  const changes = changesOf(await again.until(isArchived(id)), id);
  assert.deepEqual(changes, ['after created', 'after archived']);
  await again.close();
  const ofTheFuture = Buffer.from(
    JSON.stringify(['999999999999', '1', app.context.now().getTime()]),
  ).toString('base64url');
  const restored = open({ lastEventId: ofTheFuture });
  assert.equal((await restored.next()).event, 'reset');
  await restored.close();
});

async function connect(
  as: FirstKey,
  organization = organizationId,
  method = 'GET',
): Promise<IncomingMessage> {
  const headers = { authorization: basic(as) };
  const request = get(`${url}/api/organizations/${organization}/events`, { method, headers });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}

test('users without access to the organization get none of its events', async () => {
  const { id: elsewhere } = await ok('createOrganization', { body: { name: 'Elsewhere' } });
  const foreign = await app.addKey({ [elsewhere]: 'Admin' });
  await refused('streamOrganization', 404, { id: organizationId, as: foreign });
  await refused('streamOrganization', 401, { id: organizationId, as: null });
  await refused('streamOrganization', 404, { id: randomUUID() });
  await refused('streamOrganization', 400, { id: organizationId, headers: { 'last-event-id': 'nonsense' } });
  await refused('streamOrganization', 400, { id: organizationId, query: { projectId: randomUUID() } });
  const other = open({ organizationId: elsewhere });
  await other.next();
  await createIdle({ name: 'not theirs' });
  const [project] = await ok('listProjects', { query: { organizationId: elsewhere } });
  await createIdle({ name: 'theirs', organizationId: elsewhere, projectId: project?.id });
  const event = (await other.until((each) => each.event === 'environment')).at(-1);
  assert.equal(event?.event === 'environment' && event.data.name, 'theirs');
  await other.close();
});

test('HEAD answers immediately, for this stream and for that of a deployment', async () => {
  const response = await connect(app.admin, organizationId, 'HEAD');
  assert.deepEqual(
    [response.statusCode, response.headers['content-type']],
    [200, 'text/event-stream; charset=utf-8'],
  );
  const { id } = await deploy((await createIdle()).id);
  const headers = { authorization: basic(app.admin) };
  const request = get(`${url}/api/environments/deployments/${id}/events`, { method: 'HEAD', headers });
  const [other] = (await once(request, 'response')) as [IncomingMessage];
  assert.equal(other.statusCode, 200);
  other.resume();
  await once(other, 'end');
});

test('many readers share one database query per change', async () => {
  const readers = Array.from({ length: 20 }, () => open());
  for (const reader of readers) await reader.next();
  let looks = 0;
  const counting = () => void looks++;
  const { id } = await createIdle({ name: 'watched' });
  await Promise.all(readers.map((reader) => reader.until(isChange(id, 'created'))));
  app.database.pool.on('acquire', counting);
  await archive(id);
  await Promise.all(readers.map((reader) => reader.until(isArchived(id))));
  app.database.pool.off('acquire', counting);
  assert.ok(looks < 20, `${looks} connections were taken`);
  for (const reader of readers) await reader.close();
});

test('a resumed reader that has everything is idle until there is news', async () => {
  const stream = open();
  const { id } = await createIdle({ name: 'resting' });
  await stream.until((event) => event.event === 'ready');
  await archive(id);
  const last = (await stream.until(isArchived(id))).at(-1)?.id ?? '';
  await stream.close();
  const { feed, leave } = await joinFeed(app.context, organizationId);
  const first = await feed.after(decodePosition(last).place);
  assert.deepEqual(first.events, []);
  let isAwake = false;
  const waiting = feed
    .waitFor(first.place, { signal: AbortSignal.timeout(10_000), milliseconds: 10_000 })
    .then(() => (isAwake = true));
  assert.deepEqual((await feed.after(first.place)).events, []);
  assert.equal(isAwake, false);
  await createIdle({ name: 'waking' });
  await waiting;
  assert.deepEqual(fieldOf((await feed.after(first.place)).events, 'name'), ['environment']);
  leave();
});

test('a stalled reader does not slow down the others', async () => {
  const lazy = await connect(app.admin);
  lazy.pause();
  const stream = open();
  await stream.next();
  const { id } = await createIdle();
  for (let index = 0; index < 30; index++)
    await call('updateEnvironment', { id, body: { description: `${index}${'x'.repeat(1000)}` } });
  await archive(id);
  await stream.until(isArchived(id));
  await stream.close();
  lazy.destroy();
});
