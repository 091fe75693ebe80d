import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { limitConcurrency } from './limit-concurrency.ts';

test('at most this many outcomes are stored at a time, the others in their order', async () => {
  const inTurn = limitConcurrency(2);
  const begun: number[] = [];
  const works = Array.from({ length: 4 }, () => Promise.withResolvers<number>());
  const done = works.map(({ promise }, index) =>
    inTurn(() => {
      begun.push(index);
      return promise;
    }),
  );
  await nextTurn();
  assert.deepEqual(begun, [0, 1]);
  works[1]!.resolve(11);
  assert.equal(await done[1], 11);
  await nextTurn();
  assert.deepEqual(begun, [0, 1, 2]);
  for (const { resolve } of works) resolve(0);
  await Promise.all(done);
  assert.deepEqual(begun, [0, 1, 2, 3]);
});

test('a failure reaches its caller and no one else', async () => {
  const inTurn = limitConcurrency(1);
  const refused = inTurn(() => Promise.reject(new Error('refused')));
  const next = inTurn(async () => 'stored');
  await assert.rejects(refused, /refused/);
  assert.equal(await next, 'stored');
});

test('an outcome that waits long makes room for the next one', async () => {
  const inTurn = limitConcurrency(1);
  const waits = Promise.withResolvers<string>();
  const first = inTurn(() => waits.promise);
  assert.equal(await inTurn(async () => 'stored'), 'stored');
  waits.resolve('stored, too');
  assert.equal(await first, 'stored, too');
});
