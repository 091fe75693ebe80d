import assert from 'node:assert/strict';
import { test } from 'node:test';
import { levelsOf, readUnits } from './units.ts';

const unit = (path: string, ...dependencies: string[]) => ({ path, dependencies, reading: [] });

test('units are read with what they need and read, and nothing else that terragrunt lists', () => {
  const output = [
    { type: 'stack', path: 'live' },
    { type: 'unit', path: './vpc', include: { root: 'root.hcl' }, reading: ['root.hcl', '../m/main.tf'] },
    { type: 'unit', path: 'app', dependencies: ['vpc/'] },
  ];
  assert.deepEqual(readUnits(Buffer.from(JSON.stringify(output)), []), [
    { path: 'app', dependencies: ['vpc/'], reading: [] },
    { path: 'vpc', dependencies: [], reading: ['root.hcl', '../m/main.tf'] },
  ]);
  assert.deepEqual(readUnits(Buffer.from(''), []), []);
  assert.throws(() => readUnits(Buffer.from('Error: x'), []), /printed something that is not JSON: Error: x/);
  // Cut values show no part of a secret.
  const long = `${'x'.repeat(190)}planted-secret-0123456789`;
  assert.throws(() => readUnits(Buffer.from(long), ['planted-secret-0123456789']), /: x{190}\*{3}$/);
});

test('units come after those that they need, and units of other folders count as there', () => {
  const units = [unit('web', 'app', 'db'), unit('app', 'vpc'), unit('db', '../shared'), unit('vpc')];
  assert.deepEqual(
    levelsOf(units).map((level) => level.map(({ path }) => path)),
    [['db', 'vpc'], ['app'], ['web']],
  );
});

test('a cycle is named as a path', () => {
  const units = [unit('a', 'b'), unit('b', 'c'), unit('c', 'b')];
  assert.throws(() => levelsOf(units), { message: /^Units depend on each other: b → c → b\. Remove/ });
});

test('a cycle is found at once, whatever many units it needs', () => {
  const chain = Array.from({ length: 40 }, (_, index) => [
    unit(`left-${index}`, `left-${index + 1}`, `right-${index + 1}`),
    unit(`right-${index}`, `left-${index + 1}`, `right-${index + 1}`),
  ]).flat();
  const units = [...chain, unit('left-40'), unit('right-40'), unit('a', 'left-0', 'b'), unit('b', 'a')];
  assert.throws(() => levelsOf(units), { message: /: a → b → a\. Remove/ });
});
