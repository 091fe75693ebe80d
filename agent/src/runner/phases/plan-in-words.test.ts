import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ResourceChange } from '#contract/deployments/plan.ts';
import { planInWords } from './plan-in-words.ts';

const row = (path: string, more: Partial<ResourceChange>): ResourceChange => ({
  name: path,
  path,
  type: 'thing',
  providerName: 'p',
  action: 'create',
  attributes: [],
  ...more,
});

test('a plan in words shows each change, the fields of an update, and the counts', () => {
  const resourceChanges = [
    row('a', { attributes: [{ name: 'size', after: 1 }] }),
    row('b', {
      action: 'update',
      attributes: [
        { name: 'spec.replicas', before: 1, after: 2 },
        { name: 'text', before: 'x\ny', after: 'z'.repeat(200) },
        { name: 'gone', before: { k: [1] } },
      ],
    }),
    row('c', { action: 'delete', actionReason: 'no longer in the manifests' }),
  ];
  assert.deepEqual(planInWords({ resourceChanges, outputChanges: [] }).split('\n'), [
    '+ a',
    '~ b',
    '    spec.replicas: 1 → 2',
    `    text: x y → ${'z'.repeat(120)}…`,
    '    gone: {"k":[1]} → (none)',
    '- c (no longer in the manifests)',
    '',
    'Plan: 1 to destroy, 1 to change, 1 to add.',
  ]);
});

test('a plan without changes says so', () => {
  assert.equal(planInWords({ resourceChanges: [], outputChanges: [] }), 'No changes.');
});
