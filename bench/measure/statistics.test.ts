import assert from 'node:assert/strict';
import { test } from 'node:test';
import { median, percentile, summarize } from './statistics.ts';

test('the median is the middle value, or the mean of the two in the middle', () => {
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1, 3, 2]), 2.5);
  assert.equal(median([7]), 7);
});

test('a percentile is a value that was measured', () => {
  const values = Array.from({ length: 100 }, (_, index) => 100 - index);
  assert.equal(percentile(values, 0.99), 99);
  assert.equal(percentile(values, 0), 1);
  assert.equal(percentile(values, 1), 100);
});

test('a series is summed up without changing it', () => {
  const values = [3, 1, 2];
  assert.deepEqual(summarize(values), { count: 3, median: 2, minimum: 1, maximum: 3, p99: 3 });
  assert.deepEqual(values, [3, 1, 2]);
});

test('missing measurements are reported, not summed up', () => {
  assert.throws(() => summarize([]), /nothing was measured/);
});
