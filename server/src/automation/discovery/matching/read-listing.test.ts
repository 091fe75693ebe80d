import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { entriesOf } from './read-listing.ts';

const id = '0123456789abcdef0123456789abcdef01234567';

test('a path is read as it is, or is marked as one that cannot be used', () => {
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 12, min: 1 });
  const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }).map((path) => Buffer.from(path));
  const name = fc.oneof(bytes, text).filter((each) => !each.includes(0));
  fc.assert(
    fc.property(fc.array(name, { maxLength: 8 }), (names) => {
      const parts = names.flatMap((each) => [Buffer.from(`100644 blob ${id}\t`), each, Buffer.from('\0')]);
      const whole = Buffer.concat(parts);
      const entries = [...entriesOf([whole])];
      assert.deepEqual([...entriesOf([...whole].map((byte) => Buffer.of(byte)))], entries);
      assert.equal(entries.length, names.length);
      for (const [index, { path, pathProblem, kind }] of entries.entries()) {
        const original = Buffer.from(names[index] ?? []);
        assert.equal(kind, 'file');
        assert.doesNotMatch(path, /\p{Cc}/u);
        assert.equal(Buffer.from(path).equals(original), pathProblem === undefined, path);
      }
    }),
    { numRuns: 1000 },
  );
});

test('entries have the kind of their mode', () => {
  const entries = [
    ['040000 tree', 'tree'],
    ['100644 blob', 'file'],
    ['100755 blob', 'file'],
    ['120000 blob', 'link'],
    ['160000 commit', 'submodule'],
  ] as const;
  const listing = entries.map(([mode], index) => `${mode} ${id}\t${index}\0`).join('');
  assert.deepEqual(
    [...entriesOf([Buffer.from(listing)])].map(({ kind, id: found }) => [kind, found]),
    entries.map(([, kind]) => [kind, id]),
  );
});
