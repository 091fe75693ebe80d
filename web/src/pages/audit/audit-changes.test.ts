import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesOf, isFingerprint } from './audit-changes.ts';

test('only fields that differ are shown, those of objects by their path', () => {
  assert.deepEqual(
    changesOf(
      { name: 'Shop', policy: { maxTtl: '6-h', note: 'same' }, tags: ['a'] },
      { name: 'Store', policy: { maxTtl: null, note: 'same' }, tags: ['a', 'b'] },
    ),
    [
      { field: 'name', before: 'Shop', after: 'Store' },
      { field: 'policy.maxTtl', before: '6-h', after: undefined },
      { field: 'tags', before: '[\n  "a"\n]', after: '[\n  "a",\n  "b"\n]' },
    ],
  );
});

test('what was created or deleted has all of its fields', () => {
  assert.deepEqual(changesOf(undefined, { name: 'Shop', isDefault: false }), [
    { field: 'name', before: undefined, after: 'Shop' },
    { field: 'isDefault', before: undefined, after: 'false' },
  ]);
  assert.deepEqual(changesOf({ name: 'Shop' }, null), [{ field: 'name', before: 'Shop', after: undefined }]);
});

test('a fingerprint is recognized', () => {
  assert.ok(isFingerprint('hmac:2f00'));
  assert.equal(isFingerprint('hm'), false);
  assert.equal(isFingerprint(undefined), false);
});
