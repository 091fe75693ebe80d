import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changeKinds } from './change-kinds.ts';
import type { ResourceChange } from './plan.ts';
import {
  countsOf,
  countsOfSummary,
  countsText,
  hasDrift,
  isDrift,
  kindOf,
  kindsOf,
  planSummaryOf,
  planText,
} from './plan-counts.ts';

function change(action: ResourceChange['action'], more: Partial<ResourceChange> = {}): ResourceChange {
  return { path: 'a.b', action, name: 'b', type: 'a', providerName: 'p', attributes: [], ...more };
}

/** One of every kind. */
const every = [
  change('create'),
  change('update'),
  change('delete'),
  change('recreate'),
  change('metadata', { kind: 'forget' }),
  change('metadata', { importing: { id: 'i' } }),
  change('metadata', { previousAddress: 'a.c' }),
  change('metadata', { kind: 'invoke' }),
  change('metadata', { kind: 'unknown' }),
  change('create', { kind: 'defer' }),
  change('metadata'),
];

test('each kind of change has a count of its own, and a replacement counts as published clients expect', () => {
  assert.deepEqual(planSummaryOf({ resourceChanges: every }), {
    added: 2,
    changed: 1,
    destroyed: 2,
    replaced: 1,
    imported: 1,
    forgotten: 1,
    moved: 1,
    invoked: 1,
    unknown: 1,
    deferred: 1,
  });
  assert.deepEqual(planSummaryOf({ resourceChanges: [] }), { added: 0, changed: 0, destroyed: 0 });
});

test('rows and their summary have the same counts, and so the same words', () => {
  const counts = countsOf(every);
  assert.deepEqual(
    Object.values(counts),
    changeKinds.map(() => 1),
  );
  // Notes are in no summary.
  assert.deepEqual(countsOfSummary(planSummaryOf({ resourceChanges: every })), { ...counts, note: 0 });
});

test('a resource that is moved or imported and changed counts as both', () => {
  const resourceChanges = [
    change('update', { previousAddress: 'a.c' }),
    change('update', { importing: { id: 'i' } }),
    change('recreate', { previousAddress: 'a.d' }),
  ];
  assert.deepEqual(planSummaryOf({ resourceChanges }), {
    added: 1,
    changed: 2,
    destroyed: 1,
    replaced: 1,
    imported: 1,
    moved: 2,
  });
  assert.deepEqual(resourceChanges.map(kindOf), ['update', 'update', 'replace']);
});

test('a replacement that leaves the old object alone destroys nothing', () => {
  const resourceChanges = [change('create', { kind: 'forget' })];
  assert.deepEqual(kindsOf(resourceChanges[0]!), ['forget', 'create']);
  assert.deepEqual(planSummaryOf({ resourceChanges }), { added: 1, changed: 0, destroyed: 0, forgotten: 1 });
});

test('what is deferred is in no other count', () => {
  const resourceChanges = [change('recreate', { kind: 'defer', previousAddress: 'a.c' })];
  assert.deepEqual(planSummaryOf({ resourceChanges }), { added: 0, changed: 0, destroyed: 0, deferred: 1 });
});

test('a plan without kinds is counted by its actions', () => {
  assert.deepEqual(
    countsText(countsOfSummary({ added: 3, changed: 1, destroyed: 2 }), 'done'),
    '2 destroyed, 1 changed, 3 added',
  );
});

test('a plan is worded as what is to be done or is done, what can be lost first', () => {
  const planSummary = planSummaryOf({ resourceChanges: every });
  assert.equal(
    planText({ planSummary }),
    '1 to destroy, 1 to replace, 1 to forget, 1 to change, 1 to add, 1 to import, 1 to move, 1 to invoke, ' +
      '1 with an unknown result, 1 deferred',
  );
  assert.match(
    planText({ planSummary }, 'done'),
    /^1 destroyed, 1 replaced, 1 forgotten, 1 changed, 1 added/,
  );
});

test('a plan without counts has no changes only where the service says that it is empty', () => {
  const planSummary = { added: 0, changed: 0, destroyed: 0 };
  assert.equal(planText({ planSummary, isPlanEmpty: true }), 'no changes');
  assert.equal(planText({ planSummary, isPlanEmpty: false }), 'no resource changes');
  assert.equal(planText({ planSummary }), 'no resource changes');
});

test('moves and unknown results are not drift, what is forgotten is', () => {
  const drifted = every.filter(isDrift).map(kindOf);
  assert.deepEqual(drifted, ['create', 'update', 'destroy', 'replace', 'forget', 'import']);
  const none = every.filter((row) => !isDrift(row));
  assert.equal(hasDrift(planSummaryOf({ resourceChanges: none })), false);
  for (const row of every.filter(isDrift))
    assert.ok(hasDrift(planSummaryOf({ resourceChanges: [row] })), kindOf(row));
});
