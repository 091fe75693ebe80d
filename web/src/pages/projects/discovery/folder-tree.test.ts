import assert from 'node:assert/strict';
import { test } from 'node:test';
import { folderTree, shownNodes } from './folder-tree.ts';

const treeOf = (...folders: string[]) => folderTree(folders.map((folder) => ({ folder })));
const linesOf = (nodes: ReturnType<typeof treeOf>, closed: readonly string[] = []) =>
  shownNodes(nodes, new Set(closed)).map(
    ({ depth, label, entry, count }) => `${' '.repeat(depth)}${label}${entry ? '' : '/'} ${count}`,
  );

test('folders are below those that contain them, each with the number of those below it', () => {
  assert.deepEqual(linesOf(treeOf('prod/eu/app', 'prod/eu/db', 'prod/us', 'test')), [
    'prod/ 3',
    ' eu/ 2',
    '  app 0',
    '  db 0',
    ' us 0',
    'test 0',
  ]);
});

test('folders that contain only one other folder share its row, unless something is known about them', () => {
  assert.deepEqual(linesOf(treeOf('a/b/c', 'a/b/d')), ['a/b/ 2', ' c 0', ' d 0']);
  assert.deepEqual(linesOf(treeOf('a/b/c')), ['a/b/c 0']);
  assert.deepEqual(linesOf(treeOf('a', 'a/b/c')), ['a 1', ' b/c 0']);
});

test('a closed row hides what is below it, and the root of the repository is a row of its own', () => {
  const tree = treeOf('', 'prod/app', 'prod/db');
  assert.deepEqual(linesOf(tree), [' 0', 'prod/ 2', ' app 0', ' db 0']);
  assert.deepEqual(linesOf(tree, ['prod']), [' 0', 'prod/ 2']);
  assert.deepEqual(
    shownNodes(tree, new Set()).map(({ path }) => path),
    ['', 'prod', 'prod/app', 'prod/db'],
  );
});
