import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WaitingFor } from '#contract/deployments/plan.ts';
import { approverObstacle, costWords } from './approval-words.ts';

const waiting = (more: object): WaitingFor => ({
  kind: 'approval',
  since: '2026-01-01T00:00:00.000Z',
  text: '',
  approval: { until: '2026-02-01T00:00:00.000Z', decidedBy: 'environment', ...more },
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

test('costs say by how much they change, in their currency', () => {
  assert.equal(costWords({ monthlyCostDiff: 4.1, currency: 'EUR' }), `+${(4.1).toFixed(2)} EUR a month`);
  assert.match(costWords({ monthlyCostDiff: -3 }) ?? '', /^−3.00 USD a month$/);
  assert.match(costWords({ monthlyCostDiff: 0 }) ?? '', /^±0.00/);
  assert.equal(costWords(null), undefined);
});
