import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packFiles, unpackFiles } from './packed-files.ts';

const files = new Map([
  ['b/plan', Buffer.from('two\nlines')],
  ['a b/ü', Buffer.of(0, 255)],
  ['empty', Buffer.of()],
]);

test('files come back as they were, and the same files are the same bytes in any order', () => {
  const packed = packFiles(files);
  assert.deepEqual(
    Object.fromEntries([...unpackFiles(packed)].map(([path, bytes]) => [path, Buffer.from(bytes)])),
    Object.fromEntries(files),
  );
  assert.deepEqual(packFiles(new Map([...files].reverse())), packed);
});

test('damaged bytes and paths that leave the folder are refused', () => {
  const packed = packFiles(files);
  assert.throws(() => unpackFiles(packed.subarray(0, packed.length - 1)), /does not have the length/);
  assert.throws(() => unpackFiles(Buffer.from('{"files":[]}')), /has no index/);
  for (const path of ['../x', '/x', 'a//b', '.'])
    assert.throws(() => unpackFiles(packFiles(new Map([[path, Buffer.of()]]))), /outside of its folder/);
});
