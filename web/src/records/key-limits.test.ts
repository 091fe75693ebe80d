import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expiryOf } from './key-limits.ts';

test('a key ends so long after it was made, or never', () => {
  const now = Date.parse('2026-03-01T12:00:00Z');
  assert.equal(expiryOf('week', now), '2026-03-08T12:00:00.000Z');
  assert.equal(expiryOf('never', now), null);
});
