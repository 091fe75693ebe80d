import assert from 'node:assert/strict';
import { test } from 'node:test';
import { percentDecode } from './percent-decode.ts';

test('percent signs are decoded, and what they do not encode is refused', () => {
  assert.equal(percentDecode('a%20b%C3%BC'), 'a bü');
  for (const text of ['%', '%zz', '%E0%A4']) assert.equal(percentDecode(text), undefined, text);
});
