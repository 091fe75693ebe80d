import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joinWarnings, splitWarnings } from './warning-header.ts';

test('warnings with commas and vertical bars remain separate sentences', () => {
  const header = joinWarnings(['first, with a comma.', 'a|b.', 'third.']);
  assert.equal(header, 'first, with a comma. | a/b. | third.');
  assert.deepEqual(splitWarnings(header), ['first, with a comma.', 'a/b.', 'third.']);
});

test('a reply without the header, or with an empty one, has no warnings', () => {
  assert.deepEqual([splitWarnings(null), splitWarnings(''), splitWarnings(' | ')], [[], [], []]);
});

test('what a header cannot contain becomes a question mark', () => {
  assert.equal(joinWarnings(['quotes "日\n\u0000é".']), 'quotes "????".');
});
