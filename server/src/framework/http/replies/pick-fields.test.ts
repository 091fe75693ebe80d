import assert from 'node:assert/strict';
import { test } from 'node:test';
import { excludeFields, pickFields } from './pick-fields.ts';

const value = {
  id: 'i',
  plan: {
    summary: { added: 1 },
    changes: [
      { name: 'a', attributes: [1] },
      { name: 'b', attributes: [] },
    ],
  },
  error: null,
};

test('excluded paths are removed, at any depth and inside of lists', () => {
  assert.deepEqual(excludeFields(value, 'error, plan.summary'), {
    id: 'i',
    plan: { changes: value.plan.changes },
  });
  assert.deepEqual(excludeFields(value, 'plan.changes.attributes').plan.changes, [
    { name: 'a' },
    { name: 'b' },
  ]);
  assert.deepEqual(excludeFields(value, undefined), value);
  assert.deepEqual(excludeFields(value, ''), value);
});

test('only the picked paths are kept', () => {
  assert.deepEqual(pickFields(value, 'id,plan.summary.added'), { id: 'i', plan: { summary: { added: 1 } } });
  assert.deepEqual(pickFields(value, 'plan.changes.name'), {
    plan: { changes: [{ name: 'a' }, { name: 'b' }] },
  });
  assert.deepEqual(pickFields(value, 'plan,plan.summary').plan, value.plan);
});

test('unknown paths, and names that every object inherits, change nothing', () => {
  const text = JSON.stringify(value);
  for (const list of [
    'nothing',
    'plan.nothing.at.all',
    '__proto__',
    '__proto__.x',
    'constructor.name',
    'toString',
    'id.length',
    ',,',
    '.',
  ]) {
    assert.equal(JSON.stringify(excludeFields(value, list)), text, list);
  }
  assert.equal(JSON.stringify(pickFields(value, '__proto__,constructor')), '{}');
});
