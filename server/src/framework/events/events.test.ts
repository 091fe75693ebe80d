import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { afterEach, beforeEach, test } from 'node:test';
import { testDatabase } from '../../../testing/database.ts';
import { openDatabaseProxy } from '../../../testing/database-proxy.ts';
import type { Database } from '../../ground/database/open.ts';
import { Events } from './events.ts';

let database: Database;
let events: Events;
beforeEach(async () => {
  database = await testDatabase();
  events = await Events.open(database.address);
});
afterEach(async () => {
  await events[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

/** Collects payloads of a channel; `next` resolves with the first that has not been taken. */
function collect(from: Events, channel: string) {
  const taken: string[] = [];
  let wake = (): void => undefined;
  const stop = from.subscribe(channel, (payload) => {
    taken.push(payload);
    wake();
  });
  const next = async (): Promise<string> => {
    if (taken.length === 0)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    return taken.shift() ?? assert.fail('woken without an event');
  };
  return { next, taken, stop };
}

async function cutConnections(database: Pick<Database['pool'], 'query'>): Promise<void> {
  await database.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'envarium events' and datname = current_database()",
  );
}

test('an event reaches the listeners of its channel on every server, with its payload', async () => {
  await using other = await Events.open(database.address);
  const [here, there, elsewhere] = [
    collect(events, 'deployment:1'),
    collect(other, 'deployment:1'),
    collect(other, 'deployment:2'),
  ];
  await events.publish(database.db, 'deployment:1', 'seen');
  assert.deepEqual([await here.next(), await there.next()], ['seen', 'seen']);
  assert.deepEqual(elsewhere.taken, []);
});

test('listeners never hear of an event whose transaction is rolled back', async () => {
  const heard = collect(events, 'c');
  await assert.rejects(
    database.db.transaction().execute(async (tx) => {
      await events.publish(tx, 'c', 'lost');
      throw new Error('no');
    }),
    /no/,
  );
  await events.publish(database.db, 'c', 'kept');
  assert.equal(await heard.next(), 'kept');
});

test('a lost connection is repaired, and every listener is woken once', async () => {
  const [first, second] = [collect(events, 'a'), collect(events, 'b')];
  await cutConnections(database.pool);
  assert.deepEqual([await first.next(), await second.next()], ['', '']);
  await events.publish(database.db, 'a', 'after');
  assert.equal(await first.next(), 'after');
});

test('a connection that falls silent is replaced, and every listener is woken', async () => {
  await using proxy = await openDatabaseProxy(database.address);
  await using through = await Events.open({ ...proxy.address, query_timeout: 300 }, undefined, 500);
  const heard = collect(through, 'a');
  proxy.silence();
  await events.publish(database.db, 'a', 'lost');
  assert.equal(await heard.next(), '');
  await events.publish(database.db, 'a', 'after');
  assert.equal(await heard.next(), 'after');
});

test('a refused reconnection is retried until it succeeds or the service ends', async () => {
  await events[Symbol.asyncDispose]();
  const refused = new EventEmitter();
  const warn = (_: object, message: string) => refused.emit(message);
  const isRefused = () => once(refused, 'event connection not restored yet');
  events = await Events.open(database.address, { warn });
  const heard = collect(events, 'a');
  const admin = await database.pool.connect();
  const allowConnections = (isAllowed: boolean) =>
    admin.query('update pg_database set datallowconn = $1 where datname = current_database()', [isAllowed]);
  try {
    await allowConnections(false);
    await Promise.all([isRefused(), cutConnections(admin)]);
    await isRefused();
    assert.deepEqual(heard.taken, []);
    await allowConnections(true);
    assert.equal(await heard.next(), '');
    await allowConnections(false);
    await Promise.all([isRefused(), cutConnections(admin)]);
    await events[Symbol.asyncDispose]();
  } finally {
    await allowConnections(true);
    admin.release();
  }
});

test('a wait ends at the event, the signal or its timeout, and leaves no subscription', async () => {
  const waited = events.waitFor('w', { milliseconds: 60_000 });
  await events.publish(database.db, 'w', 'seen');
  assert.equal(await waited, 'seen');
  const abort = new AbortController();
  const aborted = events.waitFor('w', { milliseconds: 60_000, signal: abort.signal });
  abort.abort();
  assert.equal(await aborted, '');
  await events.waitFor('w', { milliseconds: 60_000, signal: abort.signal });
  await events.waitFor('w', { milliseconds: 1 });
});

test('ended subscriptions hear nothing, and a failing listener does not disturb the others', async () => {
  const ended = collect(events, 'c');
  ended.stop();
  events.subscribe('c', () => {
    throw new Error('listener');
  });
  const heard = collect(events, 'c');
  await events.publish(database.db, 'c', '1');
  assert.equal(await heard.next(), '1');
  assert.deepEqual(ended.taken, []);
});

test('a payload that is too large for PostgreSQL is refused', async () => {
  await assert.rejects(events.publish(database.db, 'c', 'x'.repeat(8000)), RangeError);
});
