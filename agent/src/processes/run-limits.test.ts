import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { ResourceWatch, type RunLimits } from './run-limits.ts';

const unlimited = Number.MAX_SAFE_INTEGER;
const limits: RunLimits = {
  processes: 100_000,
  openFiles: unlimited,
  fileBytes: unlimited,
  memoryBytes: unlimited,
  diskBytes: unlimited,
  reserveBytes: 0,
};

function watchWith(processes: number): ResourceWatch {
  const run = { slotUid: null, workRoot: `${tmpdir()}/work`, spoolFolder: tmpdir() };
  return new ResourceWatch({ ...limits, processes }, run);
}

test('a check is due at once when many processes were started, and as long as the run has them', async (t) => {
  const roomy = watchWith(100_000);
  const tight = watchWith(40);
  assert.equal(tight.check(), null);
  const sleepers = Array.from({ length: 12 }, () => spawn('sleep', ['100'], { stdio: 'ignore' }));
  t.after(() => sleepers.forEach((sleeper) => sleeper.kill('SIGKILL')));
  await Promise.all(sleepers.map((sleeper) => new Promise((resolve) => sleeper.once('spawn', resolve))));
  assert.ok(tight.isDue());
  assert.equal(roomy.isDue(), false);
  assert.equal(tight.check(), null);
  assert.ok(tight.isDue(), 'it still has 12 of 40');
});

test('a run with nearly all the processes that it may have is stopped', async (t) => {
  const watch = watchWith(10);
  const sleepers = Array.from({ length: 9 }, () => spawn('sleep', ['100'], { stdio: 'ignore' }));
  t.after(() => sleepers.forEach((sleeper) => sleeper.kill('SIGKILL')));
  await Promise.all(sleepers.map((sleeper) => new Promise((resolve) => sleeper.once('spawn', resolve))));
  assert.match(
    watch.check()?.message ?? '',
    /10 are allowed; it was stopped \(setting ENVARIUM_RUN_PROCESS_LIMIT\)/,
  );
});
