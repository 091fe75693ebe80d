import assert from 'node:assert/strict';
import { test } from 'node:test';
import { partsOf, planHashesOf } from './bulk-parts.ts';

test('many environments are sent in parts of the largest size, in their order', () => {
  assert.deepEqual(partsOf([1, 2, 3, 4, 5], 2), [[1, 2], [3, 4], [5]]);
  assert.deepEqual(partsOf([1, 2], 2), [[1, 2]]);
  assert.deepEqual(partsOf([], 2), []);
});

test('an approval names the plans that were shown', () => {
  const shown = (id: string, planHash?: string) => ({ id, latestDeploymentLog: { planHash } }) as never;
  assert.deepEqual(planHashesOf([shown('one', 'abc'), shown('two')]), { one: 'abc' });
});
