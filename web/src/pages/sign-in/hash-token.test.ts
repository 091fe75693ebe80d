import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keyOf } from './hash-token.ts';

test('a key is an id and a secret with a colon between them', () => {
  assert.deepEqual(keyOf(' first:s3cret_-x \n'), { key: 'first', secret: 's3cret_-x' });
  assert.deepEqual(keyOf('first:a:b'), { key: 'first', secret: 'a:b' });
});

test('a text without a colon, or with nothing on one side of it, is refused', () => {
  for (const text of ['', 'first', ':secret', 'first:', 'two words:secret', 'first:two words'])
    assert.equal(keyOf(text), undefined, text);
});
