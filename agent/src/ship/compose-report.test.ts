import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunEvent } from '#protocol/messages/report.ts';
import { composeReport, type OfferedLog } from './compose-report.ts';

const at = '2026-01-01T00:00:00.000Z';
const step = (name: string, status: 'IN_PROGRESS' | 'SUCCESS'): RunEvent => ({
  kind: 'step',
  at,
  step: name,
  status,
});
const log = (name: string, bytes: number, isWhole: boolean): OfferedLog => ({
  step: name,
  offset: 0,
  pending: Buffer.alloc(bytes, 'a'),
  isWhole,
});
const lengths = (report: ReturnType<typeof composeReport>['report']) =>
  report.logs.map((one) => [one.step, Buffer.from(one.base64, 'base64').length]);

test('without news, the report is empty', () => {
  assert.equal(composeReport({ eventsFrom: 3, events: [], logs: [log('tf:init', 0, false)] }).isEmpty, true);
});

test('the end of a step is reported with the last byte of its log', () => {
  const events = [step('tf:init', 'IN_PROGRESS'), step('tf:init', 'SUCCESS'), step('tf:plan', 'IN_PROGRESS')];
  const { report } = composeReport({
    eventsFrom: 0,
    events,
    logs: [log('tf:init', 100, true), log('tf:plan', 7, false)],
  });
  assert.deepEqual(report.events, events);
  assert.deepEqual(lengths(report), [
    ['tf:init', 100],
    ['tf:plan', 7],
  ]);
});

test('the end of a step, and all later events, wait for the whole log of the step', () => {
  const events = [step('tf:init', 'IN_PROGRESS'), step('tf:init', 'SUCCESS'), step('tf:plan', 'IN_PROGRESS')];
  const { report } = composeReport({ eventsFrom: 0, events, logs: [log('tf:init', 100, false)] });
  assert.deepEqual(report.events, events.slice(0, 1));
  assert.deepEqual(lengths(report), [['tf:init', 100]]);
});

test('a report stays below its limit, and the next one continues it', () => {
  const events = [step('tf:init', 'SUCCESS')];
  const limit = 64 * 1024;
  const { report, isFull } = composeReport(
    { eventsFrom: 0, events, logs: [log('tf:init', 200_000, true)] },
    limit,
  );
  assert.ok(JSON.stringify(report).length <= limit);
  assert.deepEqual(report.events, []);
  assert.equal(isFull, true);
});

test('one event above the limit is sent alone, so that nothing gets stuck', () => {
  const events: RunEvent[] = [
    { kind: 'warning', at, step: 'tf:init', text: 'x'.repeat(100_000) },
    step('tf:plan', 'IN_PROGRESS'),
  ];
  const { report } = composeReport({ eventsFrom: 0, events, logs: [] }, 64 * 1024);
  assert.equal(report.events.length, 1);
});

test('a report is the last one if it contains all that is offered and all logs are whole', () => {
  const events = [step('tf:init', 'SUCCESS')];
  const isLast = (logs: OfferedLog[], limit?: number) =>
    composeReport({ eventsFrom: 0, events, logs }, limit).isLast;
  assert.ok(isLast([log('tf:init', 100, true), log('tf:plan', 0, true)]));
  assert.equal(isLast([log('tf:init', 100, true), log('tf:plan', 0, false)]), false, 'more may follow');
  assert.equal(
    isLast([log('tf:init', 100, true), log('tf:plan', 5000, true)], 1024 + 400),
    false,
    'too large',
  );
});
