import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CalendarEntry, CalendarKind } from '#contract/calendar/shapes.ts';
import { chosen, dateOf, dayName, daysOf, momentOf } from './agenda.ts';

const entry = (at: Date, kind: CalendarKind = 'deploy') => ({ at: at.toISOString(), kind }) as CalendarEntry;

test('entries are grouped by the day of the reader, in the order of time', () => {
  const entries = [
    entry(new Date(2030, 0, 4, 23, 59)),
    entry(new Date(2030, 0, 5, 0, 0)),
    entry(new Date(2030, 0, 5, 8, 0)),
  ];
  assert.deepEqual(
    daysOf(entries).map(({ date, entries: own }) => [date, own.length]),
    [
      ['2030-01-04', 1],
      ['2030-01-05', 2],
    ],
  );
});

test('today and tomorrow are named, also at the end of a month', () => {
  const now = new Date(2030, 0, 31, 23, 30);
  assert.match(dayName('2030-01-31', now), /^Today, /);
  assert.match(dayName('2030-02-01', now), /^Tomorrow, /);
  assert.doesNotMatch(dayName('2030-02-02', now), /^To/);
});

test('the address names a day of the reader or a moment, and nonsense counts as now', () => {
  assert.equal(momentOf('2030-01-05'), new Date(2030, 0, 5).toISOString());
  assert.equal(momentOf('2030-01-05T10:00:00.000Z'), '2030-01-05T10:00:00.000Z');
  assert.equal(momentOf('soon'), undefined);
  assert.equal(dateOf(new Date(2030, 8, 5)), '2030-09-05');
});

test('the calendar is narrowed to runs, drift checks or ends', () => {
  const all = (['deploy', 'destroy', 'driftDetection', 'notice', 'expiry', 'retry'] as const).map((kind) =>
    entry(new Date(), kind),
  );
  const count = (choice?: string) => chosen(all, choice).length;
  assert.deepEqual([count('runs'), count('drift'), count('ends'), count(), count('odd')], [2, 1, 3, 6, 6]);
});
