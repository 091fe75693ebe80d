import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RepositoryVariable } from '#contract/repositories/shapes.ts';
import { changesOf, newRow } from './variables/rows.ts';
import { editsOf, missingOf, rowsWith } from './variable-edits.ts';

const here = { scope: 'ENVIRONMENT' } as const;
const region: RepositoryVariable = { name: 'region', scope: 'BLUEPRINT', type: 1, value: 'eu' };
const size: RepositoryVariable = { name: 'size', scope: 'BLUEPRINT', type: 1, isRequired: true };

test('what was typed stays with its variable when the code is read again', () => {
  const first = rowsWith([region, size], [], [], here);
  const typed = first.map((row) => (row.name === 'region' ? { ...row, value: 'us' } : row));
  const again = rowsWith(
    [{ ...region, value: 'asia', description: 'where' }, size],
    [],
    editsOf(typed),
    here,
  );
  assert.equal(again[0]?.value, 'us');
  assert.equal(again[0]?.before?.value, 'asia');
  assert.deepEqual(
    changesOf(again).map(({ name, value }) => [name, value]),
    [['region', 'us']],
  );
});

test('what was typed for a variable that the code no longer has stays a variable', () => {
  const typed = rowsWith([region], [], [], here).map((row) => ({ ...row, value: 'us' }));
  const gone = rowsWith([], [], [...editsOf(typed), { ...newRow('new'), name: 'added', value: '1' }], here);
  assert.deepEqual(
    changesOf(gone).map(({ name, value }) => [name, value]),
    [
      ['region', 'us'],
      ['added', '1'],
    ],
  );
});

test('variables without a default and without a value are missing', () => {
  const rows = rowsWith([region, size], [], [], here);
  assert.deepEqual(
    missingOf(rows).map(({ name }) => name),
    ['size'],
  );
});
