import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LocalCounts } from './local-counts.ts';

function counter({ most = 100, large = 5 } = {}) {
  let time = 1_000_000;
  const counts = new LocalCounts({ now: () => new Date(time), most, large });
  const add = (name: string, times: number) => {
    for (let index = 0; index < times; index++) counts.addNow(name);
    return counts.peek(name).count;
  };
  return { counts, add, pass: (milliseconds: number) => void (time += milliseconds) };
}

test('a count begins again a minute after its first addition', async () => {
  const { counts, add, pass } = counter();
  assert.equal(add('a', 3), 3);
  pass(59_999);
  assert.deepEqual(await counts.add('a'), { count: 4, milliseconds: 1 });
  assert.deepEqual(await counts.read('a'), { count: 4, milliseconds: 1 });
  pass(1);
  assert.deepEqual(counts.peek('a'), { count: 0, milliseconds: 60_000 });
  assert.deepEqual(await counts.add('a'), { count: 1, milliseconds: 60_000 });
});

test('a large count begins again, too, and can grow again', () => {
  const { counts, add, pass } = counter();
  assert.equal(add('a', 50), 50);
  pass(60_000);
  assert.equal(counts.peek('a').count, 0);
  assert.equal(add('a', 7), 7);
});

test('a clock that is set back does not extend a minute', () => {
  const { counts, add, pass } = counter();
  add('a', 8);
  pass(-3_600_000);
  assert.equal(counts.peek('a').count, 0);
  assert.equal(counts.addNow('a').milliseconds, 60_000);
});

test('any number of names takes bounded memory and never resets a large count', () => {
  const { counts, add } = counter({ most: 100, large: 5 });
  assert.equal(add('other', 40), 40);
  assert.equal(add('small', 4), 4);
  for (let index = 0; index < 100_000; index++) counts.addNow(`path ${index}`);
  assert.equal(counts.peek('other').count, 40, 'of another caller, and not displaced');
  assert.equal(counts.peek('small').count, 0, 'only counts below 5 are displaced');
  const known = Array.from({ length: 100_000 }, (_, index) => counts.peek(`path ${index}`).count);
  assert.equal(known.filter((count) => count > 0).length, 100);
});

test('what displaces large counts has to be as large itself', () => {
  const { counts, add } = counter({ most: 100, large: 5 });
  add('other', 40);
  for (let index = 0; index < 99; index++) add(`path ${index}`, 5);
  assert.equal(counts.peek('other').count, 40);
  add('one more', 5);
  assert.equal(counts.peek('other').count, 0);
});

test('counts that are over make room', () => {
  const { counts, add, pass } = counter({ most: 100, large: 5 });
  for (let index = 0; index < 100; index++) add(`path ${index}`, 1);
  pass(60_000);
  add('kept', 1);
  for (let index = 0; index < 99; index++) add(`later ${index}`, 1);
  assert.equal(counts.peek('kept').count, 1);
});
