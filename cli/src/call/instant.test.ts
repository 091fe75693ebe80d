import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instantOf } from './instant.ts';

test('times without a zone are in UTC, whatever the clock of the machine', () => {
  const before = process.env.TZ;
  process.env.TZ = 'America/New_York';
  try {
    assert.equal(instantOf('2026-12-24'), '2026-12-24T00:00:00.000Z');
    assert.equal(instantOf('2026-12-24T18:00'), '2026-12-24T18:00:00.000Z');
    assert.equal(instantOf('2026-12-24T18:00:05.5Z'), '2026-12-24T18:00:05.500Z');
    assert.equal(instantOf('2026-12-24T18:00:00+01:00'), '2026-12-24T17:00:00.000Z');
    assert.equal(instantOf('2026-12-24T18:00:00+0100'), '2026-12-24T17:00:00.000Z', 'as date prints it');
    assert.equal(instantOf('2026-12-24T18:00:00.123456+00:00'), '2026-12-24T18:00:00.123Z');
    assert.equal(instantOf('2026-11-21 12:30:05 UTC'), '2026-11-21T12:30:05.000Z', 'as it is printed');
  } finally {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  }
});

test('anything but a whole date or time is refused', () => {
  for (const text of ['', '1', '2026', '2026-02-31', '2026-13-01', '2026-12-24 (6pm)', '24 Dec 2026'])
    assert.equal(instantOf(text), null, text);
  for (const text of ['2026-12-24T25:00Z', '2026-12-24T18', '2026-12-24T18:00 CET', '12/24/2026'])
    assert.equal(instantOf(text), null, text);
});
