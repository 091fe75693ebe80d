import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { ReportRequest, RunEvent } from '#protocol/messages/report.ts';
import { until } from '../../../tools/suite/until.ts';
import { patternsOf } from '../logs/mask.ts';
import { type AttemptWake, createWake } from '../processes/wake.ts';
import { spoolPaths } from '../spool/layout.ts';
import { createCompletion } from './completion.ts';
import { shipReports } from './ship-reports.ts';
import { createStepFilter } from './step-filter.ts';

const eventsEach = 40;

const stepEvent = (step: string): RunEvent => ({
  kind: 'step',
  at: '2026-01-01T00:00:00.000Z',
  step,
  status: 'IN_PROGRESS',
});

/** Reports a run that has something to say all the time. @returns how many reports were sent, and the events */
async function reportsOf(folder: string, countRuns: () => number) {
  const { sent, received, paths, wake, end } = start(folder, countRuns);
  for (let number = 0; number < eventsEach; number += 1) {
    appendFileSync(paths.events, `${JSON.stringify(stepEvent(`${number}`))}\n`);
    wake.notify('report');
    // Events come one after the other: what differs is how many of them a report has.
    await delay(20);
  }
  await end();
  return { sent: sent.length, received };
}

/** Starts to report a run without steps, or with one. */
function start(folder: string, countRuns: () => number, steps: readonly string[] = []) {
  const paths = spoolPaths(folder);
  mkdirSync(paths.steps, { recursive: true });
  const wake: AttemptWake = createWake();
  const completion = createCompletion(wake);
  const received: RunEvent[] = [];
  const sent: ReportRequest['logs'][] = [];
  const shipping = shipReports({
    paths,
    wake,
    completion,
    countRuns,
    steps,
    createFilter: () => createStepFilter(patternsOf([]), 1_000_000),
    mostRawBytes: 1_000_000,
    maskEvent: (event) => event,
    send: async ({ eventsFrom, events, logs }) => {
      sent.push(logs);
      received.splice(eventsFrom, Infinity, ...events);
      const ends = logs.map(({ step, offset, base64 }) => [
        step,
        offset + Buffer.from(base64, 'base64').length,
      ]);
      return {
        events: received.length,
        logs: Object.fromEntries(ends) as Record<string, number>,
        abort: null,
      };
    },
    signal: new AbortController().signal,
    isFresh: true,
    onAbort: () => assert.fail('no one aborts'),
    leavesLast: false,
  });
  const end = async () => {
    completion.reach();
    await shipping;
  };
  return { paths, wake, sent, received, end };
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

test('the first report waits for the first bytes of a log, but not for long', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'reports-'));
  const { paths, wake, sent, received, end } = start(folder.path, () => 1, ['tf:apply']);
  const silent = start(join(folder.path, 'silent'), () => 1, ['tf:apply']);
  for (const each of [paths, silent.paths])
    appendFileSync(each.events, `${JSON.stringify(stepEvent('tf:apply'))}\n`);
  wake.notify('report');
  silent.wake.notify('report');
  // Time in which a report could be sent.
  await delay(20);
  assert.deepEqual([sent.length, silent.sent.length], [0, 0]);
  appendFileSync(paths.stepLog('tf:apply'), 'Creating...\n');
  wake.notify('report');
  await until('a report', () => sent.length > 0);
  assert.equal(Buffer.from(sent[0]?.[0]?.base64 ?? '', 'base64').toString(), 'Creating...\n');
  assert.equal(received.length, 1);
  await until('a report without text', () => silent.sent.length > 0);
  assert.deepEqual([silent.sent[0], silent.received.length], [[], 1]);
  await Promise.all([end(), silent.end()]);
});
