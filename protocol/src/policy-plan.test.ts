import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ResourceChange } from '#contract/deployments/plan.ts';
import { commonPolicyPlan } from './policy-plan.ts';

const row = (changes: Partial<ResourceChange>): ResourceChange => ({
  name: 'it',
  providerName: 'p',
  type: 't',
  path: 't.it',
  action: 'metadata',
  attributes: [],
  ...changes,
});

/** Actions and kinds as approval policies see them. */
function seen(...rows: ResourceChange[]) {
  const plan = commonPolicyPlan({ resourceChanges: rows, outputChanges: [] });
  const changes = plan['resource_changes'] as { kind: string; change: { actions: string[] } }[];
  return changes.map(({ kind, change }) => [kind, ...change.actions]);
}

test('only what leaves a resource as it is has no action', () => {
  assert.deepEqual(
    seen(
      row({ kind: 'unknown' }),
      row({ kind: 'invoke' }),
      row({ kind: 'forget' }),
      row({ kind: 'forget', action: 'create' }),
      row({ kind: 'update' }),
      row({ kind: 'unknown', action: 'update' }),
      row({ importing: { id: 'i' } }),
      row({ previousAddress: 't.old' }),
      row({}),
    ),
    [
      ['unknown', 'unknown'],
      ['invoke', 'invoke'],
      ['forget', 'forget'],
      ['forget', 'forget', 'create'],
      ['update', 'update'],
      ['unknown', 'update', 'unknown'],
      ['import', 'no-op'],
      ['move', 'no-op'],
      ['note', 'no-op'],
    ],
  );
});

test('changes have the actions of terraform', () => {
  assert.deepEqual(
    seen(
      row({ action: 'create' }),
      row({ action: 'update' }),
      row({ action: 'delete' }),
      row({ action: 'recreate' }),
      row({ action: 'create', kind: 'defer' }),
    ),
    [
      ['create', 'create'],
      ['update', 'update'],
      ['destroy', 'delete'],
      ['replace', 'delete', 'create'],
      ['defer', 'create'],
    ],
  );
});
