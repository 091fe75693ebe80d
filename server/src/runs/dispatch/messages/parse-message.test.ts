import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ExactNumber } from '#contract/schema/exact-json.ts';
import { parseMessage } from './parse-message.ts';

test('numbers that the database does not store, or makes much longer, are texts', () => {
  const fraction = `1.${'1'.repeat(6_400)}e-9999`;
  for (const text of [
    fraction,
    '1e9999',
    '1e-1001',
    `1.${'1'.repeat(990)}e-99`,
    '9'.repeat(1_001),
    '1E+1001',
  ])
    assert.deepEqual(parseMessage(`{"value":${text}}`), { value: text }, text.slice(0, 20));
});

test('all other numbers keep their digits', () => {
  for (const text of ['1e400', '-1.0', '9223372036854775807', `0.${'1'.repeat(900)}`, '9'.repeat(1_000)])
    assert.deepEqual(parseMessage(`[${text}]`), [new ExactNumber(text)], text.slice(0, 20));
  assert.deepEqual(parseMessage(`["${'1'.repeat(2_000)}", 1.5, "1e9999"]`), [
    '1'.repeat(2_000),
    1.5,
    '1e9999',
  ]);
});
