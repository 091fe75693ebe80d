import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../../tools/suite/temporary-folder.ts';
import { createWorkFolder, keepWorkFolder, keptFolder, workFolderPaths } from './work-folder.ts';

test('the kept files of a run survive the next run of its environment', (t) => {
  const folder = temporaryFolder(t, 'kept-');
  const paths = workFolderPaths(folder, { type: 'deploy', environmentId: 'e', deploymentId: 'd' });
  mkdirSync(paths.tree, { recursive: true });
  writeFileSync(join(paths.tree, 'errored.tfstate'), 'the only copy');
  const attempt = { jobId: 'j', attempt: 1 };
  for (const _ of ['first', 'once more after a kill']) keepWorkFolder(paths, attempt);
  createWorkFolder(paths, null);
  const kept = keptFolder(paths, attempt);
  assert.equal(readFileSync(join(kept, 'tree', 'errored.tfstate'), 'utf8'), 'the only copy');
  assert.equal(statSync(kept).mode & 0o777, 0o700);
  assert.deepEqual(readdirSync(paths.tree), []);
});
