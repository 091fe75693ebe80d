import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coarseSpanText, spanText } from './spans.ts';

test('a span is written with its two largest units', () => {
  const spans = { 12: '12 ms', 1500: '1.5 s', 9960: '10 s', 61_000: '1 min 1 s', 3_600_000: '1 h' };
  for (const [milliseconds, text] of Object.entries(spans))
    assert.equal(spanText(Number(milliseconds)), text);
  assert.equal(spanText(2 * 86_400_000 + 5 * 3_600_000 + 59_000), '2 d 5 h');
});

test('in a list a span has no seconds from one minute on, and no minutes from one day on', () => {
  assert.equal(coarseSpanText(400), '1 s');
  assert.equal(coarseSpanText(59_999), '59 s');
  assert.equal(coarseSpanText(8 * 60_000 + 54_000), '8 min');
  assert.equal(coarseSpanText(125 * 60_000), '2 h 5 min');
  assert.equal(coarseSpanText(86_400_000 + 5 * 3_600_000 + 59 * 60_000), '1 d 5 h');
});
