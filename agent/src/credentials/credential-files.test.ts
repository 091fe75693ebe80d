import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Job } from '#protocol/messages/job.ts';
import { temporaryFolder } from '../../../tools/suite/temporary-folder.ts';
import { workFolderPaths } from '../slots/work-folder.ts';
import { renewCredentialFiles, writeCredentialFiles } from './credential-files.ts';

const isRoot = process.getuid?.() === 0;
const slotUid = isRoot ? 60_000 : null;

function setUp(t: TestContext, later: { from: number; content: string }[]) {
  const root = temporaryFolder(t, 'credential-files-');
  const paths = workFolderPaths(root, { environmentId: 'one' } as Job);
  mkdirSync(paths.root);
  const files = [
    { name: 'token', content: 'first', later },
    { name: 'other', content: 'stays' },
  ];
  const job = { delivered: { environment: {}, files, versions: [] } };
  const file = join(paths.credentials, 'token');
  writeCredentialFiles(paths, job, slotUid);
  return { paths, job, file };
}

test('a token is replaced when its time ends, for readers of the run only', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000_000 });
  const { paths, job, file } = setUp(t, [
    { from: 1_600_000, content: 'second' },
    { from: 2_200_000, content: 'third' },
  ]);
  const before = statSync(file);
  using _renewal = renewCredentialFiles(paths, job, slotUid);
  t.mock.timers.tick(599_999);
  assert.equal(readFileSync(file, 'utf8'), 'first');
  t.mock.timers.tick(1);
  assert.equal(readFileSync(file, 'utf8'), 'second');
  t.mock.timers.tick(600_000);
  assert.equal(readFileSync(file, 'utf8'), 'third');
  const { mode, uid, gid } = statSync(file);
  assert.deepEqual([mode, uid, gid], [before.mode, before.uid, before.gid]);
  assert.equal(mode & 0o777, isRoot ? 0o440 : 0o400);
  assert.deepEqual(readdirSync(paths.credentials).toSorted(), ['other', 'token']);
});

test('a run that starts late gets the token of that time, and nothing is written after its end', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 2_200_001 });
  const { paths, job, file } = setUp(t, [
    { from: 1_600_000, content: 'second' },
    { from: 2_200_000, content: 'third' },
    { from: 2_800_000, content: 'fourth' },
  ]);
  renewCredentialFiles(paths, job, slotUid)[Symbol.dispose]();
  assert.equal(readFileSync(file, 'utf8'), 'third');
  t.mock.timers.tick(1_000_000);
  assert.equal(readFileSync(file, 'utf8'), 'third');
});
