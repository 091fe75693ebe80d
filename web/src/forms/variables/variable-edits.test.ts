import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RepositoryVariable } from '#contract/repositories/shapes.ts';
import type { Variable } from '#contract/variables/shapes.ts';
import { changesOf, newRow, undone } from './rows.ts';
import { editsAfter, editsOf, missingOf, rowsWith } from './variable-edits.ts';

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

const stored = {
  id: 'a',
  ...region,
  scope: 'ENVIRONMENT',
  overwrites: null,
  schema: null,
} as unknown as Variable;

test('a value that another user stores in the meantime is not undone by another setting of the variable', () => {
  const typed = rowsWith([], [stored], [], here).map((row) => ({ ...row, description: 'where' }));
  const again = rowsWith([], [{ ...stored, value: 'us' }], editsOf(typed), here);
  assert.deepEqual([again[0]?.value, again[0]?.isOvertaken], ['us', false]);
  assert.deepEqual(changesOf(again), [{ id: 'a', name: 'region', type: 1, description: 'where' }]);
});

test('a value that another user has stored in the meantime is shown until the person accepts it or saves', () => {
  const typed = rowsWith([], [stored], [], here).map((row) => ({ ...row, value: 'asia' }));
  const theirs = [{ ...stored, value: 'us' }];
  const again = rowsWith([], theirs, editsOf(typed), here);
  assert.deepEqual([again[0]?.value, again[0]?.before?.value, again[0]?.isOvertaken], ['asia', 'us', true]);
  const typedOn = again.map((row) => ({ ...row, value: 'asia-2' }));
  assert.equal(rowsWith([], theirs, editsOf(typedOn), here)[0]?.isOvertaken, true);
  assert.deepEqual(editsOf(again.map(undone)), []);
  const same = rowsWith([], [{ ...stored, value: 'asia' }], editsOf(typed), here);
  assert.deepEqual([editsOf(same).length, same[0]?.isOvertaken], [0, false]);
});

test('what is typed while a save is under way is still to be saved after it', () => {
  const edit = (value: string) =>
    editsOf([
      ...rowsWith([], [stored], [], here).map((row) => ({ ...row, value })),
      { ...newRow('x'), name: 'added', value },
    ]);
  assert.deepEqual(editsAfter(edit('1'), edit('1')), []);
  const left = rowsWith(
    [],
    [
      { ...stored, value: '1' },
      { ...stored, id: 'b', name: 'added', value: '1' },
    ],
    editsAfter(edit('2'), edit('1')),
    here,
  );
  assert.deepEqual(changesOf(left), [
    { id: 'a', name: 'region', type: 1, value: '2' },
    { id: 'b', name: 'added', type: 1, value: '2' },
  ]);
  assert.deepEqual(
    left.map(({ isOvertaken }) => isOvertaken),
    [false, false],
  );
});

test('a value that was typed before the code was read is saved, although the code describes it by now', () => {
  const stored = { id: 'a', name: 'region', type: 1, scope: 'PROJECT', value: 'eu' } as Variable;
  const typed = editsOf(rowsWith([], [stored], [], here).map((row) => ({ ...row, value: 'us' })));
  const sent = rowsWith([{ ...region, description: 'where' }], [stored], typed, here);
  assert.deepEqual(editsAfter(typed, editsOf(sent)), []);
});

test('what is typed during a save keeps what the save has stored of its other settings', () => {
  const stored = { id: 'a', name: 'region', type: 1, scope: 'PROJECT', value: 'eu' } as Variable;
  const typed = (value: string) =>
    editsOf(rowsWith([], [stored], [], here).map((row) => ({ ...row, value })));
  const sent = rowsWith([{ ...region, description: 'where' }], [stored], typed('us'), here);
  const [left] = editsAfter(typed('asia'), editsOf(sent));
  assert.deepEqual(left && changesOf([left]), [{ id: 'a', name: 'region', type: 1, value: 'asia' }]);
});
