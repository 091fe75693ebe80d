import assert from 'node:assert/strict';
import { test } from 'node:test';
import { followingSentences } from './following-units.ts';

const waits = { reason: 'it waits', follows: true } as const;

test('an approver reads what the approval covers, and what waits for another one', () => {
  assert.deepEqual(followingSentences([{ unit: 'vpc', changes: { 'create a': 1 } }]), []);
  assert.deepEqual(followingSentences(undefined), []);
  assert.deepEqual(
    followingSentences([
      { unit: 'app', changes: { 'create a': 2, 'update b': 1 }, ...waits },
      { unit: 'web', ...waits },
      { unit: 'far', reason: 'it waits for something else' },
    ]),
    [
      'The approval also covers what follows with real outputs, up to these changes: app (2 × create a, 1 × update b)',
      'web has no plan yet and waits for another approval',
    ],
  );
});
