import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Secret } from '#settings/secret.ts';
import { registration } from '../../testing/registration.ts';
import { connectToServer } from './connection.ts';
import { isRefusal } from './refusals.ts';

const attempt = { jobId: 'job 1/2', attempt: 3, fence: 4 };

async function connect(
  t: TestContext,
  listener: RequestListener | readonly RequestListener[],
  onReplaced?: () => void,
  onContact?: () => void,
  quietSeconds?: number,
) {
  const listeners = typeof listener === 'function' ? [listener] : listener;
  const urls = await Promise.all(listeners.map((each) => serve(t, each)));
  const logged: string[] = [];
  const log = {
    info: (_: object, text: string) => void logged.push(text),
    warn: (data: object, text: string) => void logged.push(text + JSON.stringify(data)),
  };
  return {
    logged,
    connection: connectToServer({
      urls,
      agentKey: 'key',
      agentSecret: new Secret('s3cret-value'),
      log,
      onReplaced,
      onContact,
      quietSeconds,
    }),
  };
}

const now = new Date().toISOString();

/** @returns its address */
async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a call is repeated over server errors, broken connections and malformed replies', async (t) => {
  let calls = 0;
  const { connection, logged } = await connect(t, (request, response) => {
    calls++;
    if (calls === 1) response.writeHead(503).end();
    else if (calls === 2) request.socket.destroy();
    else if (calls === 3) response.writeHead(200).end('<html>');
    else if (calls === 4) response.writeHead(200).end('{"next": 7}');
    else if (calls === 5) response.writeHead(429, { 'retry-after': '0' }).end();
    else response.end('{"next": null}');
  });
  assert.deepEqual(
    await connection.finish(attempt, { result: 'planned', finishedAt: '2026-01-01T00:00:00.000Z' }),
    { next: null },
  );
  assert.equal(calls, 6);
  assert.equal(logged.length, 2);
  assert.doesNotMatch(logged.join(), /s3cret-value/);
});

test('an outcome that is sent again has the time at which it is sent, outside of the outcome', async (t) => {
  const bodies: { times: { receivedAt: string; sentAt: string }; outcome: unknown }[] = [];
  const { connection } = await connect(t, (request, response) => {
    let text = '';
    request.on('data', (part) => (text += String(part)));
    request.on('end', () => {
      bodies.push(JSON.parse(text) as (typeof bodies)[number]);
      response.writeHead(bodies.length === 1 ? 503 : 200).end('{"next": null}');
    });
  });
  const receivedAt = '2026-01-01T00:00:00.000Z';
  await connection.finish(attempt, { result: 'planned', finishedAt: receivedAt }, { receivedAt });
  assert.deepEqual(bodies[0]?.outcome, bodies[1]?.outcome);
  assert.deepEqual([bodies[0]?.times.receivedAt, bodies[1]?.times.receivedAt], [receivedAt, receivedAt]);
  assert.ok((bodies[0]?.times.sentAt ?? '') < (bodies[1]?.times.sentAt ?? ''));
});

test('a refusal is thrown immediately with its code, and a replaced epoch is reported', async (t) => {
  let replaced = 0;
  const { connection } = await connect(
    t,
    (request, response) => {
      const code = request.url?.endsWith('/mark') ? 'mark_taken' : 'epoch_replaced';
      response.writeHead(409).end(JSON.stringify({ code, message: 'no', requestId: 'r' }));
    },
    () => replaced++,
  );
  await assert.rejects(connection.mark(attempt, { mark: 'x'.repeat(16) }), (error) =>
    isRefusal(error, 'mark_taken'),
  );
  assert.equal(replaced, 0);
  await assert.rejects(connection.getState(attempt), (error) => isRefusal(error, 'epoch_replaced'));
  assert.equal(replaced, 1);
});

test('calls carry credentials, agent and epoch; ids cannot leave their place in the path', async (t) => {
  const seen: { url: string | undefined; headers: Record<string, unknown> }[] = [];
  const { connection } = await connect(t, (request, response) => {
    seen.push({ url: request.url, headers: request.headers });
    response.end(
      request.url?.endsWith('/register')
        ? JSON.stringify({
            agentId: 'a',
            epoch: 7,
            token: { token: 'first', expiresInSeconds: 3600 },
            settings: { heartbeatSeconds: 1, offlineGraceSeconds: 1, abortSeconds: 1 },
            now,
            unwanted: [],
          })
        : '{}',
    );
  });
  await connection.register(registration);
  await connection.mark(attempt, { mark: 'x'.repeat(16) });
  assert.equal(seen[0]?.headers['x-envarium-agent'], undefined);
  assert.equal(seen[0]?.headers.authorization, `Basic ${Buffer.from('key:s3cret-value').toString('base64')}`);
  assert.equal(
    seen[1]?.headers.authorization,
    'Bearer first',
    'the secret is sent no more often than needed',
  );
  assert.deepEqual([seen[1]?.headers['x-envarium-agent'], seen[1]?.headers['x-envarium-epoch']], ['a', '7']);
  assert.equal(seen[1]?.url, '/agent/v1/jobs/job%201%2F2/attempts/3/mark');
});

test('a signal ends waits and retries', async (t) => {
  const { connection } = await connect(t, () => {});
  const stop = new AbortController();
  const claim = connection.claim({ epoch: 1, waitSeconds: 25 }, stop.signal);
  stop.abort(new Error('stopped here'));
  await assert.rejects(claim, /stopped here/);
});

test('an agent signs off once', async (t) => {
  let calls = 0;
  const { connection } = await connect(t, (_, response) => {
    calls++;
    response.writeHead(503).end();
  });
  await assert.rejects(connection.goodbye({ epoch: 1, held: [] }), /503/);
  assert.equal(calls, 1);
});

test('only an answered heartbeat or registration counts as contact', async (t) => {
  let contacts = 0;
  let isRefusing = false;
  const settings = { heartbeatSeconds: 5, offlineGraceSeconds: 600, abortSeconds: 60 };
  const { connection } = await connect(
    t,
    (_request, response) => {
      if (isRefusing)
        response.writeHead(401).end(JSON.stringify({ code: 'unauthorized', message: 'no', requestId: 'r' }));
      else response.end(JSON.stringify({ settings, now, abort: [], unwanted: [], next: null }));
    },
    undefined,
    () => contacts++,
  );
  await connection.finish(attempt, { result: 'planned', finishedAt: '2026-01-01T00:00:00.000Z' });
  assert.equal(contacts, 0);
  await connection.heartbeat(() => ({ epoch: 1, held: [], freeSlots: 1 }));
  assert.equal(contacts, 1);
  isRefusing = true;
  await assert.rejects(
    connection.heartbeat(() => ({ epoch: 1, held: [], freeSlots: 1 })),
    /401/,
  );
  assert.equal(contacts, 1);
});

test('a heartbeat that is sent again after an outage has the list of that moment', async (t) => {
  const lists: unknown[] = [];
  const held: (typeof attempt)[] = [];
  const settings = { heartbeatSeconds: 5, offlineGraceSeconds: 600, abortSeconds: 60 };
  const { connection } = await connect(t, (request, response) => {
    void json(request).then((message) => {
      lists.push((message as { held: unknown }).held);
      if (lists.length === 1) {
        held.push(attempt);
        response.writeHead(503).end();
      } else response.end(JSON.stringify({ settings, now, abort: [], unwanted: [] }));
    });
  });
  await connection.heartbeat(() => ({ epoch: 1, held: held.splice(0), freeSlots: 1 }));
  assert.deepEqual(lists, [[], [attempt]]);
});

test('a connection that is closed while it waited for the next call is not an outage', async (t) => {
  const seen = new WeakSet<object>();
  let calls = 0;
  const { connection, logged } = await connect(t, (request, response) => {
    calls++;
    if (seen.has(request.socket)) return void request.socket.destroy();
    seen.add(request.socket);
    request.resume();
    response.setHeader('content-type', 'application/json');
    response.end('{}');
  });
  await connection.mark(attempt, { mark: 'm'.repeat(16) });
  await connection.mark(attempt, { mark: 'n'.repeat(16) });
  assert.deepEqual([calls, logged], [3, []]);
});

test('an address that redirects is not followed: credentials stay with the service', async (t) => {
  let calls = 0;
  const { connection, logged } = await connect(t, (request, response) => {
    request.resume();
    if (++calls === 1) return void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
    response.end('{}');
  });
  await connection.mark(attempt, { mark: 'm'.repeat(16) });
  assert.equal(calls, 2);
  assert.match(logged.join(), /redirects to http:\/\/127\.0\.0\.1:1\/: set ENVARIUM_URL/);
});

test('an agent with several addresses uses the next one when a server fails, and stays there', async (t) => {
  const calls: string[] = [];
  let isWorking = true;
  const answer: (name: string, fails: () => boolean) => RequestListener =
    (name, fails) => (request, response) => {
      calls.push(name);
      request.resume();
      if (!fails()) return void response.end('{}');
      // A pause that only a caller without another address would observe.
      response.writeHead(503, { 'retry-after': '25' }).end();
    };
  const { connection, logged } = await connect(t, [
    answer('first', () => !isWorking),
    answer('second', () => false),
  ]);
  await connection.mark(attempt, { mark: 'm'.repeat(16) });
  isWorking = false;
  await connection.mark(attempt, { mark: 'n'.repeat(16) });
  isWorking = true;
  await connection.mark(attempt, { mark: 'o'.repeat(16) });
  assert.deepEqual(calls, ['first', 'first', 'second', 'second']);
  assert.equal(logged.length, 2);
});

test('many calls that fail at once move on by one address', async (t) => {
  const calls: string[] = [];
  const waiting: (() => void)[] = [];
  const { connection } = await connect(t, [
    (request) => {
      calls.push('first');
      waiting.push(() => request.socket.destroy());
      if (waiting.length === 3) for (const end of waiting) end();
    },
    (request, response) => {
      calls.push('second');
      request.resume();
      response.end('{}');
    },
    () => assert.fail('no call goes to the third server'),
  ]);
  const send = (mark: string) => connection.mark(attempt, { mark: mark.repeat(16) });
  await Promise.all(['m', 'n', 'o'].map(send));
  assert.deepEqual(calls, ['first', 'first', 'first', 'second', 'second', 'second']);
});

test('a call whose connection is silent is sent again, a slow one is not', async (t) => {
  const calls: string[] = [];
  const { connection, logged } = await connect(
    t,
    (request, response) => {
      calls.push(`${request.method}`);
      request.resume().once('end', () => {
        if (calls.length === 1) return;
        // Each byte comes within the time, all of them together do not.
        const text = '{"stateVersionId": "v", "standing": "current"}';
        void (async () => {
          for (const one of text.match(/.{1,10}/g) ?? []) {
            response.write(one);
            await delay(800);
          }
          response.end();
        })();
      });
    },
    undefined,
    undefined,
    3,
  );
  const query = { sha256: 'x', follows: '', moment: 'final' } as const;
  assert.deepEqual(await connection.putState(attempt, query, Buffer.from('state')), {
    stateVersionId: 'v',
    standing: 'current',
  });
  assert.deepEqual(calls, ['PUT', 'PUT']);
  assert.match(logged[0] ?? '', /nothing was received or sent for 4 seconds/);
});
