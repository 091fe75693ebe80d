import assert from 'node:assert/strict';
import { statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../tools/suite/temporary-folder.ts';
import { makeFolders } from './make-folders.ts';

test('a folder is created with its parents, once', (t) => {
  const base = temporaryFolder(t, 'make-folders-');
  const folder = join(base, 'a', 'b');
  assert.deepEqual([makeFolders(folder, 0o700), makeFolders(folder, 0o700)], [true, false]);
  assert.deepEqual(
    [folder, join(base, 'a')].map((each) => statSync(each).mode & 0o777),
    [0o700, 0o700],
  );
  writeFileSync(join(base, 'file'), '');
  assert.throws(() => makeFolders(join(base, 'file'), 0o700), /file is not a folder/);
  symlinkSync(join(base, 'nowhere'), join(base, 'link'));
  assert.throws(() => makeFolders(join(base, 'link'), 0o700), { code: 'EEXIST' });
  assert.throws(() => makeFolders(join(base, 'file', 'x'), 0o700), /file is not a folder/);
});

test('a folder that its file system does not allow is refused at once', { timeout: 5_000 }, () => {
  for (const folder of ['/proc/x', '/proc/x/y', '/proc/self/x'])
    assert.throws(() => makeFolders(folder, 0o700), /ENOENT|EACCES/);
});
