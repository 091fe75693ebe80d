import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PolicyVerdict, policyDecisions } from '#contract/deployments/policy-verdict.ts';
import { approvalDeciders } from '#contract/schema/enumerations.ts';
import { costText, reviewsText, showApproval, verdictLines, waitLines } from './show-approval.ts';

const nothing = { deny: [], pending: [], allow: [], warn: [] };
const verdict = (more: Partial<PolicyVerdict>): PolicyVerdict => ({
  policyId: 'p',
  policyName: 'cost',
  round: 1,
  decision: 'none',
  messages: nothing,
  repository: 'https://git.example.com/policies.git',
  milliseconds: 3,
  at: '2026-01-02T03:04:05.000Z',
  ...more,
});
const waitingFor = (approval: object) => ({
  kind: 'approval' as const,
  since: '2026-01-02T03:04:05.000Z',
  text: '',
  approval: { until: '2026-02-01T03:04:05.000Z', decidedBy: 'environment' as const, ...approval },
});

test('only the last word of each policy is shown, with its warnings', () => {
  const lines = verdictLines({
    policyVerdicts: [
      verdict({ decision: 'pending', messages: { ...nothing, pending: ['two people'] } }),
      verdict({ round: 2, decision: 'allow', messages: { ...nothing, allow: ['enough'], warn: ['dear'] } }),
      verdict({ round: 2, policyName: 'tags', decision: 'error', error: 'does not compile' }),
    ],
  });
  assert.deepEqual(lines, [
    'cost allows the plan: enough; warning: dear',
    'tags could not be evaluated: does not compile',
  ]);
  for (const decision of policyDecisions)
    assert.match(verdictLines({ policyVerdicts: [verdict({ decision })] })[0] ?? '', /^cost \w+/);
});

test('each reason to wait has words, and the end of the wait is shown', () => {
  for (const decidedBy of approvalDeciders)
    assert.match(waitLines({ waitingFor: waitingFor({ decidedBy }) })[0] ?? '', /^It waits because \w/);
  assert.match(
    waitLines({ waitingFor: waitingFor({}) })[1] ?? '',
    /^If no one decides, it times out at .*2026/,
  );
  assert.deepEqual(waitLines({}), []);
});

test('a plan that waits for a policy without a word names it', () => {
  const [line] = waitLines({
    waitingFor: waitingFor({ decidedBy: 'policy' }),
    policyVerdicts: [verdict({ decision: 'allow', policyName: 'below' }), verdict({ policyName: 'above' })],
  });
  assert.match(
    line ?? '',
    /^It waits because the approval policy "above" says nothing, and none at its place/,
  );
});

test('costs have a sign and a currency', () => {
  assert.equal(
    costText({ costEstimation: { monthlyCostDiff: -4.1, totalMonthlyCost: 12 } }),
    '-4.10 USD a month, 12.00 in all',
  );
  assert.equal(costText({ costEstimation: null }), undefined);
});

test('before a decision, everything that is known of it is shown, without control characters', async () => {
  const lines: string[] = [];
  await showApproval({ line: async (text = '') => void lines.push(text) } as never, {
    waitingFor: waitingFor({ decidedBy: 'policy', missing: ['cost: two \u001b[31mpeople'] }),
    reviews: [
      {
        user: { user_id: 'a', name: 'Ada' } as never,
        action: 'approved',
        at: '2026-01-02T03:04:05.000Z',
        comment: 'fine',
      },
    ],
    policyVerdicts: [verdict({ decision: 'pending', messages: { ...nothing, pending: ['two people'] } })],
    costEstimation: { monthlyCostDiff: 1 },
  });
  assert.equal(
    lines.some((line) => line.includes('\u001b')),
    false,
  );
  assert.deepEqual(lines.slice(0, 4), [
    'Policy cost requires more approvals: two people',
    'Costs: +1.00 USD a month',
    'Approved so far by Ada (approved: fine).',
    lines[3],
  ]);
  assert.match(lines[3] ?? '', /^Still missing: cost: two .*people$/);
  assert.equal(reviewsText({}), '');
});
