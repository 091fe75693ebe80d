import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WaitingFor } from '#contract/deployments/plan.ts';
import type { PolicyDecision, PolicyVerdict } from '#contract/deployments/policy-verdict.ts';
import { approvalDeciders } from '#contract/schema/enumerations.ts';
import { approverObstacle, costWords, deciderWords } from './approval-words.ts';

const waiting = (more: object): WaitingFor => ({
  kind: 'approval',
  since: '2026-01-01T00:00:00.000Z',
  text: '',
  approval: { until: '2026-02-01T00:00:00.000Z', ...more },
});

test('the person learns why they cannot approve, and others do not', () => {
  const excluded = [
    { userId: 'ada', reason: 'ownPlan' },
    { userId: 'ben', reason: 'alreadyApproved' },
  ] as const;
  assert.match(approverObstacle(waiting({ excluded }), 'ada') ?? '', /your own plan/);
  assert.match(approverObstacle(waiting({ excluded }), 'ben') ?? '', /already approved this plan/);
  assert.equal(approverObstacle(waiting({ excluded }), 'eve'), undefined);
  assert.equal(approverObstacle(waiting({}), 'ada'), undefined, 'events do not know it');
  assert.equal(approverObstacle(undefined, 'ada'), undefined);
});

test('each reason to wait has words of its own', () => {
  const words = approvalDeciders.map((decidedBy) => deciderWords({ decidedBy }));
  assert.equal(new Set(words).size, approvalDeciders.length);
  assert.equal(deciderWords({}), undefined);
});

test('a plan that policies let wait without asking for it names those that say nothing', () => {
  const because = (...verdicts: [policyName: string, decision: PolicyDecision, round?: number][]) =>
    deciderWords(
      { decidedBy: 'policy' },
      verdicts.map(([policyName, decision, round = 1]) => ({ policyName, decision, round }) as PolicyVerdict),
    );
  assert.equal(because(['a', 'pending'], ['b', 'none']), 'its approval policies say so');
  assert.equal(because(['a', 'none']), 'its approval policies say nothing about the plan');
  assert.equal(
    because(['a', 'pending'], ['a', 'none', 2], ['b', 'allow', 2]),
    'the approval policy "a" says nothing, and none at its place or above allows the plan',
  );
  assert.match(
    because(['a', 'none'], ['b', 'allow'], ['c', 'none']) ?? '',
    /^the approval policies "a", "c" say nothing, and for at least one of them, none at its place/,
  );
});

test('costs say by how much they change, in their currency', () => {
  assert.equal(costWords({ monthlyCostDiff: 4.1, currency: 'EUR' }), `+${(4.1).toFixed(2)} EUR a month`);
  assert.match(costWords({ monthlyCostDiff: -3 }) ?? '', /^−3.00 USD a month$/);
  assert.match(costWords({ monthlyCostDiff: 0 }) ?? '', /^±0.00/);
  assert.equal(costWords(null), undefined);
});
