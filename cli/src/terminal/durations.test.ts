import assert from 'node:assert/strict';
import { test } from 'node:test';
import { durationBetween, durationText, timeText } from './durations.ts';

test('durations use the units that people read', () => {
  const texts = [0, 449, 59_900, 59_990, 61_000, 3_599_600, 11_520_000].map(durationText);
  assert.deepEqual(texts, ['0.0 s', '0.4 s', '59.9 s', '1 min 0 s', '1 min 1 s', '1 h 0 min', '3 h 12 min']);
});

test('times are in UTC and name it; a time that is not known is empty', () => {
  assert.equal(durationBetween('2026-11-21T12:00:00.000Z', null), '');
  assert.equal(durationBetween('2026-11-21T12:00:00.000Z', '2026-11-21T12:00:01.500Z'), '1.5 s');
  assert.equal(timeText(null), '');
  assert.equal(timeText('2026-11-21T13:00:00.123+01:00'), '2026-11-21 12:00:00 UTC');
});
