import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createLimiter } from './limit.ts';

function limitInChunks(bytes: Buffer, borders: readonly number[], maximum: number, tail: number): Buffer {
  const limiter = createLimiter(maximum, tail);
  const parts: Uint8Array[] = [];
  let from = 0;
  for (const border of [...borders]
    .map((place) => place % (bytes.length + 1))
    .sort((left, right) => left - right)) {
    parts.push(Buffer.from(limiter.push(bytes.subarray(from, border))));
    from = border;
  }
  return Buffer.concat([...parts, limiter.push(bytes.subarray(from)), limiter.end()]);
}

describe('limiting a log', () => {
  it('a log is kept whole up to the maximum', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 40 }),
        fc.array(fc.nat(), { maxLength: 6 }),
        fc.integer({ min: 1, max: 30 }),
        (bytes, borders, tail) => {
          assert.deepEqual(limitInChunks(Buffer.from(bytes), borders, 40, tail), Buffer.from(bytes));
        },
      ),
    );
  });

  it('head and tail of a longer log are kept, with the same gap for any chunk borders', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 41, maxLength: 400 }),
        fc.array(fc.nat(), { maxLength: 6 }),
        (content, borders) => {
          const bytes = Buffer.from(content);
          const gap = `\x1b[0m\n[${bytes.length - 40} bytes are left out here: at most 40 bytes of a step's log are kept]\n`;
          const expected = Buffer.concat([bytes.subarray(0, 30), Buffer.from(gap), bytes.subarray(-10)]);
          assert.deepEqual(limitInChunks(bytes, borders, 40, 10), expected);
        },
      ),
    );
  });

  it('the head is streamed immediately', () => {
    const limiter = createLimiter(10, 4);
    assert.equal(Buffer.from(limiter.push(Buffer.from('12345678'))).toString(), '123456');
    assert.equal(Buffer.from(limiter.push(Buffer.from('90'))).toString(), '');
    assert.equal(Buffer.from(limiter.end()).toString(), '7890');
  });
});
