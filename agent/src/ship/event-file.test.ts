import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { RunEvent } from '#protocol/messages/report.ts';
import { temporaryFolder } from '../../../tools/suite/temporary-folder.ts';
import { EventFile } from './event-file.ts';

const event = (text: string): RunEvent => ({
  kind: 'warning',
  at: '2026-01-01T00:00:00.000Z',
  step: 'tf:init',
  text,
});
const line = (text: string) => `${JSON.stringify(event(text))}\n`;

function eventFile(t: TestContext): string {
  const folder = temporaryFolder(t, 'events-');
  return join(folder, 'events.jsonl');
}

test('events are read as they are appended, a torn last line only once it is complete', async (t) => {
  const file = eventFile(t);
  using events = new EventFile(file, (one) => one);
  assert.equal(events.read(), false);
  const second = line('zwei, é and 😀');
  appendFileSync(file, line('one') + second.slice(0, -30));
  assert.equal(events.read(), true);
  assert.deepEqual(events.pending, [event('one')]);
  appendFileSync(file, second.slice(-30));
  events.read();
  assert.deepEqual(events.pending, [event('one'), event('zwei, é and 😀')]);
});

test('reading continues where the server is, also backwards', async (t) => {
  const file = eventFile(t);
  appendFileSync(file, line('0') + line('1') + line('2'));
  using events = new EventFile(file, (one) => one);
  events.read();
  events.goTo(2);
  assert.deepEqual([events.firstIndex, events.pending], [2, [event('2')]]);
  events.goTo(1);
  assert.deepEqual([events.firstIndex, events.pending], [1, [event('1'), event('2')]]);
});

test('a line that a full disk cut off is skipped, and later events keep their index', async (t) => {
  const file = eventFile(t);
  appendFileSync(file, line('one') + line('cut').slice(0, 20) + line('lost with it') + line('two'));
  using events = new EventFile(file, (one) => one);
  events.read();
  assert.deepEqual(events.pending, [event('one'), event('two')]);
  events.goTo(1);
  events.goTo(0);
  assert.deepEqual([events.firstIndex, events.pending], [0, [event('one'), event('two')]]);
});

test('a file of any size is read in turns, and no more is pending than the server takes soon', async (t) => {
  const file = eventFile(t);
  const count = 60_000;
  const tooLong = `${'x'.repeat(5_000_000)}\n`;
  appendFileSync(
    file,
    tooLong + Array.from({ length: count }, (_, index) => line(`${index}`)).join('') + tooLong,
  );
  let masked = 0;
  using events = new EventFile(file, (one) => ((masked += 1), one));
  let turns = 0;
  let mostPending = 0;
  let next = 0;
  const counting = setInterval(() => (turns += 1), 0);
  do {
    await events.fill();
    mostPending = Math.max(mostPending, events.pending.length);
    assert.equal(events.firstIndex, next);
    next += events.pending.length;
    events.goTo(next);
  } while (!events.isRead);
  clearInterval(counting);
  assert.equal(next, count);
  assert.ok(mostPending < 20_000, `${mostPending} events were pending`);
  assert.ok(turns > 3, `others had ${turns} turns`);
  masked = 0;
  events.goTo(0);
  events.goTo(count - 1);
  await events.fill();
  assert.deepEqual([events.firstIndex, events.pending], [count - 1, [event(`${count - 1}`)]]);
  assert.ok(masked < 20_000, `${masked} events that the server has were masked`);
});
