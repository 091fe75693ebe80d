import assert from 'node:assert/strict';
import { test } from 'node:test';
import { approvalDeciders } from '../schema/enumerations.ts';
import { approvalReason } from './approval-reason.ts';
import type { PolicyDecision } from './policy-verdict.ts';

test('each reason to wait has words of its own', () => {
  const words = approvalDeciders.map((decidedBy) => approvalReason(decidedBy));
  assert.equal(new Set(words).size, approvalDeciders.length);
});

test('a plan that policies let wait without asking for it names those that say nothing', () => {
  const because = (...verdicts: [policyName: string, decision: PolicyDecision, round?: number][]) =>
    approvalReason(
      'policy',
      verdicts.map(([policyName, decision, round = 1]) => ({ policyName, decision, round })),
    );
  assert.equal(because(['a', 'pending'], ['b', 'none']), 'its approval policies say so');
  assert.equal(because(['a', 'none']), 'its approval policies say nothing about the plan');
  assert.equal(
    because(['a', 'pending'], ['a', 'none', 2], ['b', 'allow', 2]),
    'the approval policy "a" says nothing, and none at its place or above allows the plan',
  );
  assert.match(
    because(['a', 'none'], ['b', 'allow'], ['c', 'none']),
    /^the approval policies "a", "c" say nothing, and for at least one of them, none at its place/,
  );
});
