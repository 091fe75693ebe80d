import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outputsByName, splitOutputName, splitOutputs } from './unit-outputs.ts';

const value = (text: string) => ({ value: text, sensitive: false, type: 'string' });

test('outputs of units come back by the names that they had', () => {
  const outputs = {
    'a.one': value('1'),
    'b/v1.2.two': value('2'),
    'a.three': value('3'),
    '..four': value('4'),
    '__proto__.five': value('5'),
  };
  const byUnit = splitOutputs(outputs);
  assert.deepEqual(
    byUnit.map(({ moduleName, output }) => [moduleName, Object.keys(output)]),
    [
      ['a', ['one', 'three']],
      ['b/v1.2', ['two']],
      ['.', ['four']],
      ['__proto__', ['five']],
    ],
  );
  assert.deepEqual(Object.entries(outputsByName(byUnit)).sort(), Object.entries(outputs).sort());
  assert.deepEqual([splitOutputs({}), outputsByName([]), outputsByName(null)], [[], {}, {}]);
});

test('outputs without units stay as they are', () => {
  assert.deepEqual(splitOutputName('plain'), { unit: '', name: 'plain' });
  assert.deepEqual(outputsByName({ 'a.b': value('c') }), { 'a.b': value('c') });
});
