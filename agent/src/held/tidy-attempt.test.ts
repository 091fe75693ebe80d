import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Job } from '#protocol/messages/job.ts';
import { createWorkFolder, workFolderPaths } from '../slots/work-folder.ts';
import { spoolPaths } from '../spool/layout.ts';
import { removeAttempt } from './tidy-attempt.ts';

const [ours, theirs] = [58_990, 58_991];
const skip = process.getuid?.() !== 0 && 'runs get users of their own only when the agent is started as root';

test('what another agent puts in the place of a work folder while it is being removed stays', {
  skip,
}, async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'tidy '));
  const job = { jobId: 'job', attempt: 1, type: 'deploy', environmentId: 'environment' } as Job;
  const workFolder = join(folder.path, 'work');
  const paths = workFolderPaths(workFolder, job);
  createWorkFolder(paths, ours);
  const spool = spoolPaths(join(folder.path, 'attempt'));
  mkdirSync(spool.folder);

  const removing = removeAttempt(spool, job, workFolder, { slotUid: ours, isGivenUp: false });
  const isClosed = () => (statSync(paths.root, { throwIfNoEntry: false })?.mode ?? 0) % 0o100 === 0;
  for (const deadline = Date.now() + 20_000; !isClosed(); await nextTurn()) assert.ok(Date.now() < deadline);
  // Without a turn of the event loop in between: the removal learns nothing of it.
  for (const deadline = Date.now() + 20_000; existsSync(paths.root); ) assert.ok(Date.now() < deadline);
  createWorkFolder(paths, theirs);
  await removing;

  assert.equal(statSync(paths.tree).uid, theirs);
  assert.deepEqual(readdirSync(workFolder), ['environment']);
  assert.equal(existsSync(spool.folder), false);
});
