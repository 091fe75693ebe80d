import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDocument } from 'yaml';
import { isSameKey, withExactNumbers } from './exact-yaml.ts';

const read = (text: string) => parseDocument(text, { intAsBigInt: true, customTags: withExactNumbers });

for (const [yaml, json] of [
  ['1.10', '1.10'],
  ['0.1000', '0.1000'],
  ['1e400', '1e400'],
  ['-1.5E+3', '-1.5E+3'],
  ['1.5', '1.5'],
  ['0.30000000000000000001', '0.30000000000000000001'],
  ['12345678901234567890.5', '12345678901234567890.5'],
  ['+.50', '0.50'],
  ['-.5', '-0.5'],
  ['1.', '1.0'],
  ['007.10', '7.10'],
  ['00.5', '0.5'],
] as const) {
  test(`the number ${yaml} is read as ${json}`, () => {
    assert.equal(JSON.stringify(read(`a: ${yaml}`).toJS()), `{"a":${json}}`);
  });

  test(`the number ${yaml} is written as ${json}`, () => {
    assert.equal(read(`a: ${yaml}\n`).toString(), `a: ${json}\n`);
  });
}

test('what only looks like a number is a text', () => {
  for (const text of ['1.2.3', '.', '1e', 'e5', '1_0.5', '"1.10"'])
    assert.equal(typeof (read(`a: ${text}`).toJS() as { a: unknown }).a, 'string', text);
});

test('whole numbers and other values are what they were', () => {
  const text = 'a: 9223372036854775807\nb: .inf\nc: true\nd: [ 1.10, x ]\n';
  assert.equal(read(text).toString(), text);
});

test('a value with an explicit tag is written as it was read', () => {
  const text = 'a: !!float 5\nb: !!float .inf\nc: !!float 1.10\nd: !!float -2\n';
  assert.equal(read(text).toString(), text);
});

test('a number that is a key twice is refused', () => {
  const keys = { customTags: withExactNumbers, uniqueKeys: isSameKey };
  assert.match(parseDocument('1.50: a\n1.50: b\n', keys).errors[0]?.message ?? '', /unique/);
  assert.match(parseDocument('x: a\nx: b\n', keys).errors[0]?.message ?? '', /unique/);
  assert.deepEqual(parseDocument('1.50: a\n1.5: b\n1: c\n"1.50": d\n', keys).errors, []);
});
