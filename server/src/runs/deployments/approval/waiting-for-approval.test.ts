import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApproverRow } from './load-approvers.ts';
import { waitingForApproval } from './waiting-for-approval.ts';

const row = {
  id: 'd',
  tool: 'terraform',
  updated_at: new Date('2026-01-02T03:04:05.000Z'),
  plan_summary: { added: 1, changed: 2, destroyed: 3, replaced: 1, moved: 1 },
  planned_units: null,
  level: null,
  has_changes: true,
  approval_decided_by: 'environment',
} as const;
const settings = { approvalWaitDays: 30 };
const exact = { approval: { isExact: true, covers: 'the plan' } } as const;

test('an approver learns the plan, and what is approved where the apply looks again', () => {
  assert.match(
    waitingForApproval(row, exact, settings).text,
    /approve or refuse: 2 to destroy, 1 to replace, 2 to change, 1 to move$/,
  );
  const again = { approval: { isExact: false, covers: 'the commit' } } as const;
  assert.match(waitingForApproval(row, again, settings).text, /1 to move\. The approval covers the commit$/);
});

test('an approver learns that a plan without changes has nothing to apply', () => {
  const empty = { ...row, plan_summary: { added: 0, changed: 0, destroyed: 0 }, has_changes: false };
  const { kind, text } = waitingForApproval(empty, exact, settings);
  assert.equal(kind, 'approval');
  assert.match(text, /there is nothing to apply: .* can be cancelled$/);
});

test('an approver learns until when, why, who has approved, and what policies still ask for', () => {
  const facts: ApproverRow = {
    id: 'd',
    environment_id: 'e',
    started_by: 'ada',
    requested_by: null,
    is_self_approval_forbidden: true,
    approvers: ['ben'],
    people: { ada: ['ada'], ben: ['ben'] },
    missing: ['databases: a member of the team', 'four eyes: two people'],
  };
  const { approval, text } = waitingForApproval(row, exact, settings, facts);
  assert.deepEqual(approval, {
    until: '2026-02-01T03:04:05.000Z',
    decidedBy: 'environment',
    missing: facts.missing,
    excluded: [
      { userId: 'ben', reason: 'alreadyApproved' },
      { userId: 'ada', reason: 'ownPlan' },
    ],
  });
  assert.match(
    text,
    /\. 1 person has approved it so far\. Approval policies ask for more: databases: a member of the team; four eyes: two people$/,
  );
});
