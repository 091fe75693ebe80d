/** Logs: followed live by many readers that come and go, read page by page, and always the same bytes. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Client, createClient } from '#contract/client/client.ts';
import type { DeploymentStreamEvent } from '#contract/feeds/shapes.ts';
import { logBytes } from './follow.ts';
import { withoutTerraform } from './programs.ts';
import {
  createEnvironment,
  deployNew,
  type Home,
  homeOf,
  openGate,
  stepLines,
  streamedLogs,
  until,
  untilEnd,
} from './runs.ts';
import { makeRepository, type RunningService, scratchFolder, startService } from './service.ts';

const lines = 600;
const readers = 20;

/** Colours, other scripts, a line without an end, and pauses that let readers see it grow. */
const chatter = `i=0
while [ $i -lt ${lines} ]; do
  printf '\\033[3%dmline %d: größer, 漢字, 🙂\\033[0m\\n' $((i % 8)) $i
  [ $((i % 10)) -eq 0 ] && sleep 0.02
  i=$((i + 1))
done
printf 'no end'
`;
const configuration =
  'resource "terraform_data" "it" {\n  provisioner "local-exec" { command = "sh ${path.module}/chatter.sh" }\n}\n';

/** Events that a reader has received: the bytes of each step, and everything else in its order. */
interface Seen {
  readonly logs: Map<string, Buffer>;
  readonly others: string[];
  readonly order: string[];
  connections: number;
}

/** The same numbers again for the same seed, so that a failure can be reproduced. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function take(seen: Seen, event: DeploymentStreamEvent): void {
  if (event.event !== 'log') {
    seen.others.push(`${event.event} ${JSON.stringify(event.data)}`);
    seen.order.push(event.event === 'step' ? `${event.data.name} ${event.data.status}` : event.event);
    return;
  }
  const known = seen.logs.get(event.data.step) ?? Buffer.alloc(0);
  const bytes = logBytes(event);
  assert.equal(
    event.data.offset,
    known.length,
    `${event.data.step}: the log continues where the last part ended`,
  );
  assert.equal(event.data.bytes, bytes.length);
  seen.logs.set(event.data.step, Buffer.concat([known, bytes]));
  if (seen.order.at(-1) !== `log of ${event.data.step}`) seen.order.push(`log of ${event.data.step}`);
}

/**
 * Follows to the end; leaves again and again, after some events or in the middle of anything, and comes back.
 */
async function restlessReader(client: Client, id: string, seed: number): Promise<Seen> {
  const random = numbers(seed);
  const seen: Seen = { logs: new Map(), others: [], order: [], connections: 0 };
  for (let lastEventId: string | undefined; ; ) {
    seen.connections++;
    const leaving = new AbortController();
    const timer = setTimeout(() => leaving.abort(), random() * 400);
    let left = Math.ceil(random() * 30);
    try {
      for await (const event of client.stream('streamDeployment', {
        params: { id },
        lastEventId,
        signal: leaving.signal,
      })) {
        take(seen, event);
        lastEventId = event.id;
        if (event.event === 'end') return seen;
        if (--left === 0) break;
      }
    } catch (error) {
      if (!leaving.signal.aborted) throw error;
    } finally {
      clearTimeout(timer);
    }
  }
}

describe('the log of a deployment', { skip: withoutTerraform }, () => {
  let folder: string;
  let service: RunningService;
  let client: Client;
  let home: Home;
  let repository: string;

  before(async () => {
    folder = await scratchFolder();
    service = await startService({
      folder,
      settings: { ENVARIUM_LOG_LEVEL: 'warn', ENVARIUM_RATE_LIMIT: '0' },
    });
    client = service.client;
    home = await homeOf(client);
    repository = (
      await makeRepository(folder, 'chatter', { 'main.tf': configuration, 'chatter.sh': chatter })
    ).path;
  });
  after(() => service?.[Symbol.asyncDispose]());

  test('each of many reconnecting readers gets the stored log byte for byte and in order', async () => {
    const { deploymentId } = await createEnvironment(client, home, { repository });
    const all = await Promise.all(
      Array.from({ length: readers }, (_, index) => restlessReader(client, deploymentId, index + 1)),
    );
    await untilEnd(client, deploymentId);
    const stored = await streamedLogs(client, deploymentId);
    assert.ok(Math.max(...all.map(({ connections }) => connections)) > 3, 'readers did leave and come back');
    for (const { logs, others, order } of all) {
      assert.deepEqual([...logs.keys()].sort(), [...stored.keys()].sort());
      for (const [step, bytes] of stored) assert.ok(logs.get(step)?.equals(bytes), `${step} differs`);
      assert.deepEqual(others, all[0]?.others, 'every reader sees the same events in the same order');
      assert.equal(order.at(-1), 'end');
      for (const step of stored.keys()) {
        assert.ok(
          order.lastIndexOf(`log of ${step}`) < order.indexOf(`${step} SUCCESS`),
          `${step} ends after the last byte of its log`,
        );
      }
    }
    const text = stored.get('tf:apply')?.toString() ?? '';
    for (const index of [0, 1, lines - 1])
      assert.ok(
        text.includes(`\u001b[3${index % 8}mline ${index}: größer, 漢字, 🙂\u001b[0m\n`),
        `line ${index}, with its colours`,
      );
    const places = [...text.matchAll(/mline (\d+):/g)].map(([, number]) => Number(number));
    assert.deepEqual(
      places,
      Array.from({ length: lines }, (_, index) => index),
    );
    assert.ok(text.includes('no end'));
    assert.ok(stored.get('git:clone')?.includes('\r'), 'a carriage return stays one');
  });

  test('the log read page by page is the same while it grows and afterwards', async () => {
    const { deploymentId } = await createEnvironment(client, home, { repository });
    const isOver = async () =>
      (await client.call('listSteps', { params: { deploymentLogId: deploymentId } })).some(
        ({ name, completedAt }) => name === 'tf:apply' && completedAt,
      );
    await until('the apply', async () =>
      (await client.call('listSteps', { params: { deploymentLogId: deploymentId } })).some(
        ({ name, startedAt }) => name === 'tf:apply' && startedAt,
      ),
    );
    const live: string[] = [];
    let pages = 0;
    for (let startTime: string | undefined; ; ) {
      const over = await isOver();
      const page = await client.call('getStepLog', {
        params: { deploymentLogId: deploymentId, name: 'tf:apply' },
        query: { startTime },
      });
      live.push(...page.events.map(({ message }) => message));
      if (page.events.length > 0) pages++;
      startTime = page.nextStartTime;
      if (over && !page.hasMoreLogs) break;
    }
    await untilEnd(client, deploymentId);
    const afterwards = await stepLines(client, deploymentId, 'tf:apply');
    assert.deepEqual(
      live,
      afterwards.map(({ message }) => message),
    );
    assert.ok(pages > 1, 'the log was seen growing');
    const stored = (await streamedLogs(client, deploymentId)).get('tf:apply')?.toString() ?? '';
    assert.deepEqual(
      live,
      stored
        .replace(/\n$/, '')
        .split('\n')
        .map((line) => line.replace(/\r$/, '')),
    );
    assert.equal(new Set(afterwards.map(({ eventId }) => eventId)).size, afterwards.length);
    await assert.rejects(
      client.call('getStepLog', {
        params: { deploymentLogId: deploymentId, name: 'tf:apply' },
        query: { startTime: 'yesterday' },
      }),
      { status: 400, message: /startTime/ },
    );
    await assert.rejects(
      client.call('getStepLog', { params: { deploymentLogId: deploymentId, name: 'tf:nothing' } }),
      { status: 404 },
    );
  });

  test('a reader at the end gets nothing more, and a position that was never issued is refused', async () => {
    const { deploymentId } = await deployNew(client, home, { repository });
    const url = `${service.url}/api/environments/deployments/${deploymentId}/events`;
    const authorization = `Basic ${Buffer.from(`${service.key}:${service.secret}`).toString('base64')}`;
    let last = '';
    for await (const event of client.stream('streamDeployment', { params: { id: deploymentId } }))
      last = event.id;
    const answer = await fetch(url, { headers: { authorization, 'last-event-id': last } });
    assert.equal(answer.status, 204);
    assert.equal((await fetch(url, { headers: { authorization, 'last-event-id': 'nonsense' } })).status, 400);
    assert.equal((await fetch(url)).status, 401);
    const unauthorized = createClient({ url: service.url, key: service.key, secret: 'wrong' });
    await assert.rejects(streamedLogs(unauthorized, deploymentId), { status: 401 });
  });

  test('the log is followed across a restart of the service without a lost or repeated byte', async () => {
    const waiting = await makeRepository(folder, 'waiting', {
      'main.tf': configuration,
      'chatter.sh': `${chatter}\necho half; until [ -e gate ]; do sleep 0.05; done\n${chatter}`,
    });
    const { id, deploymentId } = await createEnvironment(client, home, { repository: waiting.path });
    const port = new URL(service.url).port;
    const following = streamedLogs(client, deploymentId);
    await until('the half', async () => {
      const step = (await client.call('listSteps', { params: { deploymentLogId: deploymentId } })).find(
        ({ name }) => name === 'tf:apply',
      );
      return (
        step?.status === 'IN_PROGRESS' &&
        (await stepLines(client, deploymentId, 'tf:apply')).some(({ message }) => message.includes('half'))
      );
    });
    const { secret } = service;
    await service.stop();
    await openGate(service, id);
    service = await startService({
      folder,
      settings: { ENVARIUM_LOG_LEVEL: 'warn', ENVARIUM_PORT: port, ENVARIUM_BOOTSTRAP_API_SECRET: secret },
    });
    client = service.client;
    const followed = await following;
    await untilEnd(client, deploymentId);
    const stored = await streamedLogs(client, deploymentId);
    for (const [step, bytes] of stored) assert.ok(followed.get(step)?.equals(bytes), `${step} differs`);
    assert.equal([...(stored.get('tf:apply')?.toString() ?? '').matchAll(/mline (\d+):/g)].length, 2 * lines);
  });
});
