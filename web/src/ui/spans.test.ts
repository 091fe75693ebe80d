import assert from 'node:assert/strict';
import { test } from 'node:test';
import { spanText } from './spans.ts';

test('a span is written with its two largest units', () => {
  const spans = { 12: '12 ms', 1500: '1.5 s', 9960: '10 s', 61_000: '1 min 1 s', 3_600_000: '1 h' };
  for (const [milliseconds, text] of Object.entries(spans))
    assert.equal(spanText(Number(milliseconds)), text);
  assert.equal(spanText(2 * 86_400_000 + 5 * 3_600_000 + 59_000), '2 d 5 h');
});
