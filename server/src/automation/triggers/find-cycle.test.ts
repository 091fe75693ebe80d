import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCycle } from './find-cycle.ts';

const edges = (text: string) => text.split(' ').map((each) => ({ from: each[0] ?? '', to: each[1] ?? '' }));

test('the shortest cycle is found, and none where paths only meet', () => {
  assert.deepEqual(findCycle('a', ['a'], []), ['a', 'a']);
  assert.deepEqual(findCycle('a', ['b'], edges('ba')), ['a', 'b', 'a']);
  assert.deepEqual(findCycle('a', ['b', 'c'], edges('bd de ea ca')), ['a', 'c', 'a']);
  assert.equal(findCycle('a', ['b', 'c'], edges('bd cd de')), null);
  assert.equal(findCycle('a', [], edges('ba')), null);
});

test('a cycle of others does not keep the search from ending', () => {
  assert.equal(findCycle('a', ['b'], edges('bc cb')), null);
});
