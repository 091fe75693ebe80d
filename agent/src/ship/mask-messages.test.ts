import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Outcome } from '#protocol/messages/outcome.ts';
import type { RunEvent } from '#protocol/messages/report.ts';
import { patternsOf } from '../logs/mask.ts';
import { maskEvent, maskOutcome } from './mask-messages.ts';

const at = '2026-01-01T00:00:00.000Z';
const secrets = patternsOf(['hunter22', 'create', 'SUCCESS', 'attributes', 'resource']);

test('free text of events is masked; a secret that equals a status breaks nothing', () => {
  const resource: RunEvent = {
    kind: 'resource',
    at,
    address: 'a.b["hunter22"]',
    provider: 'p',
    type: 't',
    name: 'b["hunter22"]',
    moduleName: '',
    status: 'done',
    action: 'create',
    id: 'hunter22',
  };
  assert.deepEqual(maskEvent(resource, secrets), {
    ...resource,
    address: 'a.b["***"]',
    name: 'b["***"]',
    id: '***',
  });
  const step: RunEvent = { kind: 'step', at, step: 'tf:plan', status: 'SUCCESS' };
  assert.deepEqual(maskEvent(step, secrets), step);
});

test('outcomes are masked everywhere but in sensitive outputs', () => {
  const outcome: Outcome = {
    result: 'failed',
    finishedAt: at,
    error: { message: 'no hunter22 here', exitCode: 1 },
    plan: {
      resourceChanges: [
        {
          name: 'hunter22',
          providerName: 'p',
          type: 't',
          path: 'a.hunter22',
          action: 'create',
          attributes: [{ name: 'x', before: { deep: ['hunter22'] }, after: 'hunter22' }],
        },
      ],
      settled: [
        {
          name: 'n',
          providerName: 'p',
          type: 't',
          path: 'a.n',
          action: 'update',
          attributes: [{ name: 'x', before: 'hunter22' }],
        },
      ],
      outputChanges: [],
    },
    units: [{ unit: 'app', reason: 'it needs the outputs hunter22 of vpc', changes: { 'create t': 1 } }],
    outputs: {
      open: { value: 'hunter22', sensitive: false, type: 'string' },
      closed: { value: 'hunter22', sensitive: true, type: 'string' },
    },
    resources: [{ provider: 'p', type: 't', name: 'x["hunter22"]', moduleName: '' }],
    unrecorded: [{ address: 'a["hunter22"]', certainty: 'created' }],
    costEstimation: {
      totalMonthlyCost: 1,
      projects: [
        {
          name: 'units/hunter22',
          breakdown: { resources: [{ name: 'a["hunter22"]', monthlyCost: '1' }] },
          diff: { resources: [{ name: 'a["hunter22"]', monthlyCost: '1' }] },
        },
      ],
    },
  };
  const masked = maskOutcome(outcome, secrets);
  assert.equal(masked.outputs?.closed?.value, 'hunter22');
  const resources = [{ name: 'a["***"]', monthlyCost: '1' }];
  assert.deepEqual(masked.costEstimation?.projects, [
    { name: 'units/***', breakdown: { resources }, diff: { resources } },
  ]);
  assert.equal(masked.plan?.resourceChanges[0]?.action, 'create');
  assert.deepEqual(masked.plan?.settled?.[0]?.attributes, [{ name: 'x', before: '***' }]);
  assert.deepEqual(masked.plan?.resourceChanges[0]?.attributes, [
    { name: 'x', before: { deep: ['***'] }, after: '***' },
  ]);
  const { closed, ...open } = masked.outputs ?? {};
  assert.doesNotMatch(JSON.stringify({ ...masked, outputs: open }), /hunter22/);
  assert.equal(masked.error?.exitCode, 1);
});
