import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { outlineJson } from './json-outline.ts';

const decode = (bytes: Uint8Array) => new TextDecoder('utf-8', { fatal: true }).decode(bytes);
const options = { levels: 2, decode, checksParts: true };

/** The value with its parts put in again. */
function whole(bytes: Buffer, levels: number): unknown {
  const { value, parts } = outlineJson(bytes, { ...options, levels });
  const fill = (each: unknown, depth: number): unknown => {
    if (typeof each !== 'object' || each === null) return each;
    if (depth === levels) {
      const index = Array.isArray(each) ? (each[0] as number) : (each as { part: number }).part;
      const { start, end } = parts[index] ?? { start: 0, end: 0 };
      return JSON.parse(decode(bytes.subarray(start, end)));
    }
    if (Array.isArray(each)) return each.map((one) => fill(one, depth + 1));
    return Object.fromEntries(Object.entries(each).map(([key, one]) => [key, fill(one, depth + 1)]));
  };
  return fill(value, 0);
}

test('an outline and its parts are the whole value', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(4), fc.constantFrom(0, 2), (value, levels, spaces) => {
      const text = JSON.stringify(value, null, spaces);
      assert.deepEqual(whole(Buffer.from(text), levels), JSON.parse(text));
    }),
    { numRuns: 300 },
  );
});

test('exactly what JSON.parse refuses is refused', () => {
  const isRefused = (work: () => unknown) => {
    try {
      work();
      return false;
    } catch {
      return true;
    }
  };
  fc.assert(
    fc.property(
      fc.jsonValue({ maxDepth: 5 }),
      fc.nat(),
      fc.constantFrom('', '"', '\\', '{', '}', '[', ']', ',', ':', '0', '\uFEFF', '\0'),
      fc.nat(3),
      (value, place, planted, levels) => {
        const text = JSON.stringify(value);
        const at = place % (text.length + 1);
        const damaged = Buffer.from(text.slice(0, at) + planted + text.slice(at + (planted === '' ? 1 : 0)));
        assert.equal(
          isRefused(() => outlineJson(damaged, { ...options, levels })),
          isRefused(() => JSON.parse(decode(damaged))),
          damaged.toString(),
        );
      },
    ),
    { numRuns: 1000 },
  );
  assert.throws(() => outlineJson(Buffer.from('[[[1,2'), options), SyntaxError);
  assert.throws(() =>
    outlineJson(Buffer.from([0x5b, 0x5b, 0x5b, 0x22, 0xff, 0x22, 0x5d, 0x5d, 0x5d]), options),
  );
});

test('a long string of the upper levels is read as an empty one, and checked', () => {
  const text = `{"a":"${'ä'.repeat(600_000)}","b":["short"]}`;
  assert.deepEqual(outlineJson(Buffer.from(text), options).value, { a: '', b: ['short'] });
  const wrong = Buffer.from(text.replace('ää', '\\q'));
  assert.throws(() => outlineJson(wrong, options), SyntaxError);
});
