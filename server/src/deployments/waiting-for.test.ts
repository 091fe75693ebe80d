import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitingForApproval } from './waiting-for.ts';

const row = {
  updated_at: new Date('2026-01-02T03:04:05.000Z'),
  plan_summary: { added: 1, changed: 2, destroyed: 3 },
  has_changes: true,
};

test('an approver learns the plan, and what is approved where the apply looks again', () => {
  const exact = waitingForApproval(row, {
    label: 'One',
    approval: { isExact: true, covers: 'the plan' },
  }).text;
  assert.match(exact, /approve or refuse: 1 to add, 2 to change, 3 to destroy$/);
  const again = waitingForApproval(row, {
    label: 'Two',
    approval: { isExact: false, covers: 'the commit' },
  }).text;
  assert.match(again, /3 to destroy\. The approval covers the commit$/);
});

test('an approver learns that a plan without changes has nothing to apply', () => {
  const empty = { ...row, plan_summary: { added: 0, changed: 0, destroyed: 0 }, has_changes: false };
  const { kind, text } = waitingForApproval(empty, {
    label: 'One',
    approval: { isExact: true, covers: 'the plan' },
  });
  assert.equal(kind, 'approval');
  assert.match(text, /there is nothing to apply: .* can be cancelled$/);
});
