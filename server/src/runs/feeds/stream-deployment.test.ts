import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import fc from 'fast-check';
import { createClient } from '#contract/client/client.ts';
import { bytesOfLogEvent } from '#contract/client/log-bytes.ts';
import { type DeploymentStreamEvent, streamEventData } from '#contract/feeds/shapes.ts';
import type { Job } from '#protocol/messages/job.ts';
import type { RunEvent } from '#protocol/messages/report.ts';
import { plannedOutcome } from '../../../testing/agent.ts';
import { checkValue } from '../../../testing/check-reply.ts';
import { basic } from '../../../testing/client.ts';
import { startAgentTests } from '../../../testing/start.ts';
import { decodeCursor, encodeCursor } from './deployment-cursor.ts';

const { app, agent, ok, createEnvironment, createIdle, forgetWork } = await startAgentTests();
const url = await app.listen();
beforeEach(() => forgetWork());

const open = (id: string, headers: Record<string, string> = {}) =>
  fetch(`${url}/api/environments/deployments/${id}/events`, {
    headers: { authorization: basic(app.admin), ...headers },
  });

function parse(text: string): DeploymentStreamEvent[] {
  return text
    .split('\n\n')
    .filter((block) => block.includes('data: '))
    .map((block) => {
      const field = (name: string) =>
        block
          .split('\n')
          .find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2) ?? '';
      return {
        id: field('id'),
        event: field('event'),
        data: JSON.parse(field('data')),
      } as unknown as DeploymentStreamEvent;
    });
}

/** The log bytes of each step in order; fails if one is lost or doubled. */
function logsOf(
  events: readonly DeploymentStreamEvent[],
  begun: Record<string, number> = {},
): Record<string, Buffer> {
  const logs: Record<string, Buffer> = {};
  const next = { ...begun };
  for (const event of events) {
    if (event.event !== 'log') continue;
    const { step, offset, bytes } = event.data;
    const content = Buffer.from(bytesOfLogEvent(event.data));
    assert.deepEqual([offset, content.length], [next[step] ?? 0, bytes]);
    next[step] = offset + bytes;
    logs[step] = Buffer.concat([logs[step] ?? Buffer.alloc(0), content]);
  }
  return logs;
}

const step = (name: string, status: 'IN_PROGRESS' | 'SUCCESS'): RunEvent => ({
  kind: 'step',
  at: new Date().toISOString(),
  step: name,
  status,
});

/** Reports the bytes of a step in pieces that know nothing of characters. */
async function reportLog(job: Job, name: string, bytes: Buffer, piece: number): Promise<void> {
  for (let offset = 0; offset < bytes.length; offset += piece) {
    await agent.report(job, {
      logs: [{ step: name, offset, base64: bytes.subarray(offset, offset + piece).toString('base64') }],
    });
  }
}

const text = Buffer.concat([
  Buffer.from('plain\nünïcödé €😀\r\n\u001b[1mbold\u001b[0m\n'),
  Buffer.from([0xff, 0xfe, 0x00, 0xc3]),
  Buffer.from('tail ü'),
]);

/** A deployment that has ended, with logs. */
async function ended(): Promise<string> {
  const environment = await createEnvironment();
  const job = await agent.claim();
  await agent.report(job, { events: [step('git:clone', 'IN_PROGRESS')] });
  await reportLog(job, 'git:clone', text, 3);
  await agent.report(job, {
    eventsFrom: 1,
    events: [step('git:clone', 'SUCCESS'), step('tf:plan', 'IN_PROGRESS')],
  });
  await reportLog(job, 'tf:plan', Buffer.from('planning\n'), 2);
  await agent.report(job, {
    eventsFrom: 3,
    events: [
      {
        kind: 'resource',
        at: new Date().toISOString(),
        address: 'a.b',
        provider: 'p',
        type: 'a',
        name: 'b',
        moduleName: '',
        status: 'done',
        action: 'create',
      },
    ],
  });
  await agent.finish(job, {
    result: 'failed',
    finishedAt: new Date().toISOString(),
    error: { message: 'no' },
  });
  return environment.latestDeploymentLogId ?? '';
}

test('the stream of an ended deployment replays everything and ends', async () => {
  const id = await ended();
  const response = await open(id);
  assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  const events = parse(await response.text());
  for (const { event, data } of events) checkValue(streamEventData[event], data, `event ${event}`);
  assert.deepEqual(logsOf(events)['git:clone'], text);
  assert.equal(logsOf(events)['tf:plan']?.toString(), 'planning\n');
  assert.deepEqual(events.filter(({ event }) => event === 'end').length, 1);
  assert.equal(events.at(-1)?.event, 'end');
  const statuses = events.flatMap((each) =>
    each.event === 'status' ? [[each.data.status, each.data.environmentStatus]] : [],
  );
  assert.deepEqual(statuses, [
    ['IN_PROGRESS', 'DEPLOY_IN_PROGRESS'],
    ['FAILURE', 'FAILED'],
  ]);
  assert.ok(events.some(({ event }) => event === 'resource'));
});

test('a reader that resumes at any id gets everything after it exactly once', async () => {
  const id = await ended();
  const all = parse(await (await open(id)).text());
  assert.ok(all.length > 8);
  for (const [index, { id: cursor }] of all.entries()) {
    const response = await open(id, { 'last-event-id': cursor });
    if (index === all.length - 1) {
      assert.equal(response.status, 204);
      continue;
    }
    const rest = parse(await response.text());
    const before = logsOf(all.slice(0, index + 1));
    const after = logsOf(
      rest,
      Object.fromEntries(Object.entries(before).map(([name, bytes]) => [name, bytes.length])),
    );
    for (const [name, bytes] of Object.entries(logsOf(all))) {
      assert.ok(
        Buffer.concat([before[name] ?? Buffer.alloc(0), after[name] ?? Buffer.alloc(0)]).equals(bytes),
        `${name} after ${index}`,
      );
    }
    const others = (events: readonly DeploymentStreamEvent[]) =>
      events.filter(({ event }) => event !== 'log').map(({ data }) => data);
    assert.deepEqual([...others(all.slice(0, index + 1)), ...others(rest)], others(all));
  }
});

test('readers of a running deployment that lose their connection anywhere see every byte once', async () => {
  const bytes = Buffer.from(Array.from({ length: 40 }, (_, index) => `${index} ü€😀\n`).join(''));
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 5 }),
      async (cuts) => {
        const environment = await createEnvironment();
        const id = environment.latestDeploymentLogId ?? '';
        const job = await agent.claim();
        const client = createClient({ url, key: app.admin.id, secret: app.admin.secret });
        const seen: DeploymentStreamEvent[] = [];
        const read = async () => {
          for (const length of [...cuts, Infinity]) {
            let left = length;
            for await (const event of client.stream('streamDeployment', {
              params: { id },
              lastEventId: seen.at(-1)?.id,
            })) {
              seen.push(event);
              if (--left === 0) break;
            }
          }
        };
        const reading = read();
        await agent.report(job, { events: [step('tf:plan', 'IN_PROGRESS')] });
        await reportLog(job, 'tf:plan', bytes, 70);
        await agent.finish(job, {
          result: 'failed',
          finishedAt: new Date().toISOString(),
          error: { message: 'no' },
        });
        await reading;
        assert.ok(logsOf(seen)['tf:plan']?.equals(bytes));
        assert.equal(seen.filter(({ event }) => event === 'end').length, 1);
        assert.equal(new Set(seen.map((event) => event.id)).size, seen.length);
      },
    ),
    { numRuns: 5 },
  );
});

test('placeholders have no stream, unknown ids are refused, and a waiting deployment keeps its stream open', async () => {
  const idle = await createIdle();
  assert.equal((await open(idle.latestDeploymentLogId ?? '')).status, 204);
  const environment = await createEnvironment();
  const id = environment.latestDeploymentLogId ?? '';
  for (const cursor of [
    'x',
    'bnVsbA',
    encodeCursor({ event: -1, logs: {} }),
    encodeCursor({ event: 0, logs: { 'tf:plan': -5 } }),
    encodeCursor({ event: 1.5, logs: {} }),
  ]) {
    const response = await open(id, { 'last-event-id': cursor });
    assert.deepEqual(
      [response.status, ((await response.json()) as { code: string }).code],
      [400, 'bad_request'],
      cursor,
    );
  }
  assert.equal((await open('00000000-0000-7000-8000-000000000000')).status, 404);
  const waiting = new AbortController();
  const response = await fetch(`${url}/api/environments/deployments/${id}/events`, {
    headers: { authorization: basic(app.admin) },
    signal: waiting.signal,
  });
  const reader = response.body?.getReader();
  const first = await reader?.read();
  assert.equal(first?.done, false);
  waiting.abort();
  await agent.finish(await agent.claim(), plannedOutcome());
  await ok('cancelDeployment', { id });
});

test('a cursor survives encoding and decoding', () => {
  fc.assert(
    fc.property(
      fc.nat(),
      fc.dictionary(
        fc.string({ minLength: 1 }).filter((name) => name !== '__proto__'),
        fc.nat(),
      ),
      (event, logs) => {
        assert.deepEqual(decodeCursor(encodeCursor({ event, logs })), { event, logs: { ...logs } });
      },
    ),
  );
  assert.deepEqual(decodeCursor(undefined), { event: 0, logs: {} });
  assert.deepEqual(decodeCursor(''), { event: 0, logs: {} });
});
