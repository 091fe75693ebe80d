import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BulkItemStatus } from '#contract/bulk-operations/shapes.ts';
import { progressOf, progressText, type StartedOperation } from './bulk-progress.ts';

const finishedAt = '2026-11-21T12:00:00Z';
const operation = (
  items: Readonly<Record<string, BulkItemStatus>>,
  error: Error | null = null,
): StartedOperation => ({
  operation: {
    data: Object.entries(items).map(([environmentId, status]) => ({ environmentId, status })),
    ...(Object.values(items).includes('pending') ? {} : { finishedAt }),
  },
  error,
});
const textOf = ({ outcomeOf }: ReturnType<typeof progressOf>, ...ids: readonly string[]) =>
  progressText(ids.map(outcomeOf));

test('before it is sent, all fit; while it is sent, all wait', () => {
  assert.equal(progressOf('idle', []).outcomeOf('a'), 'fits');
  const sending = progressOf('pending', []);
  assert.equal(sending.outcomeOf('a'), 'pending');
  assert.deepEqual([sending.isPartlySent, sending.isContinuing, sending.isOver], [false, false, false]);
});

test('of a request that was refused, nothing fits or is to go', () => {
  const refused = progressOf('error', []);
  assert.equal(textOf(refused, 'a', 'b'), '0 done, 2 not sent');
  assert.deepEqual([refused.isContinuing, refused.isOver], [false, false]);
});

test('while parts are still to be sent, the page does not say that the service continues', () => {
  const partly = progressOf('pending', [operation({ a: 'pending' })]);
  assert.deepEqual([partly.isPartlySent, partly.isContinuing], [true, false]);
  assert.equal(textOf(partly, 'a', 'b'), '0 done, 2 to go');
});

test('where a later part is refused, the first continues and ends', () => {
  const running = progressOf('error', [operation({ a: 'success', b: 'pending' })]);
  assert.equal(textOf(running, 'a', 'b', 'c'), '1 done, 1 to go, 1 not sent');
  assert.deepEqual([running.isContinuing, running.isOver], [true, false]);
  const ended = progressOf('error', [operation({ a: 'success', b: 'failed' })]);
  assert.equal(textOf(ended, 'a', 'b', 'c'), '1 done, 1 failed, 1 not sent');
  assert.deepEqual([ended.isContinuing, ended.isOver], [false, true]);
});

test('an operation that cannot be read is over for the page, with its error and unknown results', () => {
  const error = new Error('no access');
  const lost = progressOf('success', [operation({ a: 'success', b: 'pending' }, error)]);
  assert.equal(textOf(lost, 'a', 'b'), '1 done, 1 unknown');
  assert.deepEqual([lost.isOver, lost.error], [true, error]);
});

test('it is over when every operation is finished', () => {
  const [first, second] = [operation({ a: 'success' }), operation({ b: 'pending' })];
  assert.equal(progressOf('success', [first, second]).isOver, false);
  assert.equal(progressOf('success', [first, operation({ b: 'success' })]).isOver, true);
});
