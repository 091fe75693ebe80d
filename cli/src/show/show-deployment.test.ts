import assert from 'node:assert/strict';
import { test } from 'node:test';
import { levelLines } from './show-deployment.ts';

const appliedAt = '2026-01-31T12:34:56.789Z';
const planSummary = { added: 2, changed: 0, destroyed: 1, replaced: 1 };

test('levels that were applied are in the past, and the current one waits with what follows it', () => {
  const lines = levelLines({
    status: 'WAITING_FOR_USER',
    level: 3,
    planSummary,
    earlierLevels: [
      { level: 1, appliedAt, planSummary },
      { level: 2, appliedAt, planSummary: { added: 0, changed: 0, destroyed: 0 } },
    ],
    units: [{ unit: 'app' }, { unit: 'web', reason: 'it needs outputs', follows: true }],
  });
  assert.deepEqual(lines, [
    'level 1: 1 replaced, 1 added',
    'level 2: no resource changes',
    'level 3: this plan',
    'web has no plan yet and waits for another approval',
  ]);
});

test('a deployment with one plan has no levels', () => {
  assert.deepEqual(levelLines({ status: 'SUCCESS', planSummary }), []);
});
