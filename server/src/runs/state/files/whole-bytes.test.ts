import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { readWhole, release } from './whole-bytes.ts';

const content = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));
const pieces = () => Readable.from([content.subarray(0, 1000), content.subarray(1000)]);

test('a content is read whole, whatever was expected, in memory of its own', async () => {
  for (const expected of [0, 7, content.length, 2 * content.length, Number.NaN]) {
    const read = await readWhole(pieces(), { expected, most: content.length });
    assert.ok(read !== null && read.equals(content), `${expected}`);
    structuredClone(read.buffer, { transfer: [read.buffer] });
    assert.ok(content.length === 300_000 && content[1] === 1);
  }
});

test('a content above the limit is read to its end, and not kept', async () => {
  let isRead = false;
  async function* source() {
    yield* pieces();
    isRead = true;
  }
  assert.equal(await readWhole(source(), { expected: 0, most: content.length - 1 }), null);
  assert.ok(isRead);
  assert.equal((await readWhole(Readable.from([]), { expected: 0, most: 10 }))?.length, 0);
});

test('the memory of a large content is released at once, and that of a small one is left to its other users', () => {
  const large = Buffer.from(new ArrayBuffer(8 * 1024 * 1024)).subarray(0, 7_000_000);
  release(large);
  assert.equal(large.buffer.byteLength, 0);
  const small = Buffer.from('a few bytes of a pool');
  release(small);
  assert.equal(small.toString(), 'a few bytes of a pool');
});
