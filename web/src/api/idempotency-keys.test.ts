import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '#contract/client/client.ts';
import { IdempotencyKeys } from './idempotency-keys.ts';

const failed = (status: number) => new ApiError(status, { code: 'unknown', message: 'It failed' });

test('what is sent again while it is under way, or because no answer came, has the same key', () => {
  const keys = new IdempotencyKeys();
  const first = keys.keyOf({ name: 'a' }, 0);
  assert.equal(keys.keyOf({ name: 'a' }, 10), first);
  for (const status of [0, 502, 503, 504]) keys.ended(failed(status));
  assert.equal(keys.keyOf({ name: 'a' }, 60_000), first);
  assert.notEqual(keys.keyOf({ name: 'a' }, 700_000), first);
});

test('another input, and the same one after an answer, have a new key', () => {
  const keys = new IdempotencyKeys();
  const first = keys.keyOf({ name: 'a' });
  const second = keys.keyOf({ name: 'b' });
  keys.ended();
  const third = keys.keyOf({ name: 'b' });
  keys.ended(failed(409));
  assert.equal(new Set([first, second, third, keys.keyOf({ name: 'b' })]).size, 4);
});
