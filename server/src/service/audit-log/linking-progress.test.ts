import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Progress } from '../../rows/audit-log/columns.ts';
import { advance, noProgress as start } from './linking-progress.ts';

const seen = (numbers: number[], more: { now?: number; oldestOpen?: string; isComplete?: boolean } = {}) => ({
  numbers,
  isComplete: true,
  now: 0,
  oldestOpen: '10',
  next: '20',
  ...more,
});
const ranges = ({ gaps }: Progress) => gaps.map(({ from, to }) => [from, to]);

test('numbers that are not visible yet are kept as gaps, and filled in any order', () => {
  const first = advance(start, seen([2, 3, 7, 9]));
  assert.deepEqual(
    [first.upTo, ranges(first)],
    [
      9,
      [
        [1, 1],
        [4, 6],
        [8, 8],
      ],
    ],
  );
  const second = advance(first, seen([5, 8, 10]));
  assert.deepEqual(
    [second.upTo, ranges(second)],
    [
      10,
      [
        [1, 1],
        [4, 4],
        [6, 6],
      ],
    ],
  );
  const third = advance(second, seen([1, 4, 6]));
  assert.deepEqual([third.upTo, ranges(third)], [10, []]);
});

test('a gap is given up only when every transaction that could fill it has ended', () => {
  const first = advance(start, seen([2]));
  const late = 3_600_000;
  const kept = [
    seen([], { now: late, oldestOpen: '19' }),
    seen([], { now: 59_999, oldestOpen: '20' }),
    seen([], { now: late, oldestOpen: '20', isComplete: false }),
  ];
  for (const each of kept) assert.deepEqual(ranges(advance(first, each)), [[1, 1]]);
  assert.deepEqual(ranges(advance(first, seen([], { now: 60_000, oldestOpen: '20' }))), []);
});

test('a pass that finds nothing changes nothing', () => {
  const first = advance(start, seen([1, 2]));
  assert.deepEqual(advance(first, seen([])), first);
});
