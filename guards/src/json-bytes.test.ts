import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { JsonScan, outlineJson, topLevelPlace, withNumber } from './json-bytes.ts';

const limits = { depth: 3, values: 6 };

/** Scans a text byte by byte, so that every border between two chunks is tried. */
function scan(text: string): string | undefined {
  const scanning = new JsonScan(limits);
  const problems = [...Buffer.from(text)].map((byte) => scanning.push(Buffer.from([byte])));
  return problems.find((problem) => problem !== null)?.message;
}

test('a text is counted while it arrives, without what its strings contain', () => {
  for (const text of ['{"a": [1, 2, [3]]}', '"[[[[[[,,,,,,"', '["\\\\", "\\"[[[[,,,,"]', '', '[{"ä": "ü["}]'])
    assert.equal(scan(text), undefined, text);
  for (const text of ['[[[[', '{"a":{"a":{"a":{}}}}', '["\\\\",[[[]]]]'])
    assert.equal(scan(text), 'is nested deeper than 3 levels', text);
  for (const text of ['[1,2,3,4,5,6]', '[[],[],[],[]]', ',,,,,,'])
    assert.equal(scan(text), 'has more than 6 values', text);
});

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

function changed(text: string, key: string, value: number): string {
  const bytes = Buffer.from(text);
  return Buffer.concat(withNumber(bytes, topLevelPlace(bytes, key), value)).toString();
}

test('only the number at the top level is changed', () => {
  const text =
    '{\n  "outputs": {"serial": 1, "é": "ü€😀 \\"serial\\": 2"},\n  "serial" : 7,\n  "list": [{"serial": 3}], "n": 12345678901234567890.5\n}';
  assert.equal(changed(text, 'serial', 12), text.replace('"serial" : 7', '"serial" : 12'));
  assert.equal(changed('{"serial":1}', 'serial', 2), '{"serial":2}');
  const spaced = `{"a":"serial","b":"serial: 1","serial"\n:${' '.repeat(5000)}`;
  assert.equal(changed(`${spaced}3\n}`, 'serial', 10), `${spaced}10\n}`);
  assert.equal(changed('{"\\u0073erial":1,"x":2}', 'serial', 2), '{"\\u0073erial":2,"x":2}');
  assert.equal(changed('{"serial":{"n":4},"serial":5}', 'serial', 6), '{"serial":{"n":4},"serial":6}');
  assert.throws(() => changed('{"a":{"serial":1}}', 'serial', 2), /no number "serial"/);
});

test('all other parts of the object are unchanged', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(), fc.nat(), (others, before, after) => {
      const { serial: _, ...rest } = others;
      const text = JSON.stringify({ ...rest, serial: before, tail: rest }, null, 2);
      assert.deepEqual(
        JSON.parse(changed(text, 'serial', after)),
        JSON.parse(JSON.stringify({ ...rest, serial: after, tail: rest })),
      );
    }),
  );
});
