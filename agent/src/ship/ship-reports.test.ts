import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { RunEvent } from '#protocol/messages/report.ts';
import { spoolPaths } from '../spool/layout.ts';
import { createCompletion } from './completion.ts';
import { shipReports } from './ship-reports.ts';
import { type AttemptWake, createWake } from './wake.ts';

const eventsEach = 40;

/** Reports a run that has something to say all the time. @returns how many reports were sent, and the events */
async function reportsOf(folder: string, countRuns: () => number) {
  const paths = spoolPaths(folder);
  mkdirSync(paths.steps, { recursive: true });
  const wake: AttemptWake = createWake();
  const completion = createCompletion(wake);
  const received: RunEvent[] = [];
  let sent = 0;
  const shipping = shipReports({
    paths,
    wake,
    completion,
    countRuns,
    steps: [],
    createFilter: () => assert.fail('there is no log'),
    mostRawBytes: 1,
    maskEvent: (event) => event,
    send: async ({ eventsFrom, events }) => {
      sent += 1;
      received.splice(eventsFrom, Infinity, ...events);
      return { events: received.length, logs: {}, abort: null };
    },
    signal: new AbortController().signal,
    isFresh: true,
    onAbort: () => assert.fail('nobody aborts'),
    leavesLast: false,
  });
  for (let number = 0; number < eventsEach; number += 1) {
    const event: RunEvent = { kind: 'step', at: '2026-01-01T00:00:00.000Z', step: `${number}`, status: 'SUCCESS' };
    appendFileSync(paths.events, `${JSON.stringify(event)}\n`);
    wake.notify('report');
    await delay(20);
  }
  completion.reach();
  await shipping;
  return { sent, received };
}

test('the more runs an agent has, the fewer reports it sends of each, and nothing is lost', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'reports-'));
  const [alone, together] = await Promise.all(
    [1, 5].map((runs) => reportsOf(join(folder.path, String(runs)), () => runs)),
  );
  assert.ok(alone && together);
  for (const { received } of [alone, together])
    assert.deepEqual(
      received.map((event) => event.kind === 'step' && event.step),
      Array.from({ length: eventsEach }, (_, number) => `${number}`),
    );
  assert.ok(together.sent * 1.5 < alone.sent, `${together.sent} and ${alone.sent} reports`);
});
