import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { topLevelPlace, withNumber } from './top-level-fields.ts';

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
