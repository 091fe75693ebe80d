import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ExactNumber, numberText, parseExactly, typeOfJson } from './exact-json.ts';
import { isRecord } from './is-record.ts';

const exact = [
  '9223372036854775807',
  '-9223372036854775808',
  '18446744073709551616',
  '0.1000000000000000055511151231257827',
  '12345678901234567890.5',
  '1e400',
  '1E5',
  '0.0000001',
  '1.0',
  '1.50',
  '-0',
  '-0.0',
  '100000000000000000000000',
];
const plain = ['0', '1', '-1', '9007199254740991', '0.1', '1.5', '-273.15', '0.000001', '1e+21', '1e-8'];

for (const text of exact)
  test(`${text} keeps its digits wherever it is`, () => {
    for (const document of [text, `[${text}]`, `{"a":${text},"b":[1,{"c": ${text}\n}]}`]) {
      const value = parseExactly(document);
      assert.equal(JSON.stringify(value), document.replaceAll(/\s/g, ''));
    }
    const value = parseExactly(text);
    assert.ok(value instanceof ExactNumber && !isRecord(value));
    assert.deepEqual([numberText(value), typeOfJson(value), `${value}`], [text, 'number', text]);
  });

test('other values are those of JSON.parse', () => {
  for (const text of plain) assert.equal(parseExactly(text), Number(text));
  const document = '{"1.0":"[1.0, -0]","b":[",1e400,", "\\"1.0,", {}], "c": "9223372036854775807"}';
  assert.deepEqual(parseExactly(document), JSON.parse(document));
  for (const wrong of ['', '01', '1.', '[1.0', '{"a":9223372036854775807', '+1.0', '1.0.0'])
    assert.throws(() => parseExactly(wrong), SyntaxError, wrong);
});

test('numbers that differ in their last digit differ', () => {
  const [one, other] = [parseExactly('[9223372036854775807]'), parseExactly('[9223372036854775806]')];
  assert.notDeepEqual(one, other);
  assert.deepEqual(one, parseExactly('[9223372036854775807]'));
});

test('values can be changed while they are read', () => {
  const read = (text: string) =>
    parseExactly(text, (_key, value) => (value instanceof ExactNumber ? value.text : value));
  assert.deepEqual(read('{"a":[1.0,2]}'), { a: ['1.0', 2] });
  assert.deepEqual(read('{"a":[1,2]}'), { a: [1, 2] });
});

test('a browser without JSON.rawJSON shows the digits as text', async () => {
  const { rawJSON } = JSON as unknown as { rawJSON: unknown };
  Object.assign(JSON, { rawJSON: undefined });
  try {
    const address = `./exact-json.ts?without`;
    const old = (await import(address)) as typeof import('./exact-json.ts');
    assert.deepEqual(old.parseExactly('{"a":[9223372036854775807,1.5,"1.0"]}'), {
      a: ['9223372036854775807', 1.5, '1.0'],
    });
  } finally {
    Object.assign(JSON, { rawJSON });
  }
});
