import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ApproverFacts, approverRefusal, excludedFrom } from './decide-approver.ts';

/** `ci` is a key that ada made, `bot` one that `ci` made. */
const people = { ada: ['ada'], ben: ['ben'], ci: ['ci', 'ada'], bot: ['bot', 'ci', 'ada'] };
const facts = (more: Partial<ApproverFacts> = {}): ApproverFacts => ({
  started_by: 'ada',
  requested_by: null,
  is_self_approval_forbidden: true,
  approvers: [],
  people,
  ...more,
});

test('no one approves their own plan where that is forbidden, with any key', () => {
  assert.match(
    approverRefusal(facts(), 'ada') ?? '',
    /^You started this deployment, .*selfApprovalForbidden/,
  );
  for (const [starter, approver] of [
    ['ada', 'ci'],
    ['ada', 'bot'],
    ['ci', 'ada'],
    ['ci', 'bot'],
    ['bot', 'ci'],
  ] as const)
    assert.match(approverRefusal(facts({ started_by: starter }), approver) ?? '', /by a key of yours/);
  assert.equal(approverRefusal(facts(), 'ben'), null);
  assert.equal(approverRefusal(facts({ is_self_approval_forbidden: false }), 'ada'), null);
});

test('a scheduled deployment belongs to the user who set the schedule, and that of a default schedule to no one', () => {
  const scheduled = facts({ started_by: 'envarium', requested_by: 'ada' });
  assert.match(approverRefusal(scheduled, 'ada') ?? '', /^This deployment was started for you/);
  assert.equal(approverRefusal(scheduled, 'ben'), null);
  assert.equal(approverRefusal(facts({ started_by: 'envarium' }), 'ada'), null);
  assert.deepEqual(excludedFrom(facts({ started_by: 'envarium' })), []);
});

test('no one approves twice, with any key, also where own plans may be approved', () => {
  for (const forbidden of [true, false]) {
    const approved = facts({ started_by: 'ben', is_self_approval_forbidden: forbidden, approvers: ['ci'] });
    assert.match(approverRefusal(approved, 'ci') ?? '', /^You have approved this plan already/);
    for (const same of ['ada', 'bot'])
      assert.match(approverRefusal(approved, same) ?? '', /approved already by you or by a key/);
  }
  assert.equal(approverRefusal(facts({ started_by: 'ada', approvers: ['ci'] }), 'ben'), null);
});

test('the people who may not approve are known before they try', () => {
  assert.deepEqual(excludedFrom(facts({ started_by: 'ci', approvers: ['ben'] })), [
    { userId: 'ben', reason: 'alreadyApproved' },
    { userId: 'ci', reason: 'ownPlan' },
    { userId: 'ada', reason: 'ownPlan' },
  ]);
  assert.deepEqual(excludedFrom(facts({ is_self_approval_forbidden: false })), []);
});
