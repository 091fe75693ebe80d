import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { type TestContext, test } from 'node:test';
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

function watchWith(processes: number, ofMachine?: () => number): ResourceWatch {
  const run = { slotUid: null, workRoot: `${tmpdir()}/work`, spoolFolder: tmpdir() };
  return new ResourceWatch({ ...limits, processes }, run, ofMachine);
}

function startSleepers(t: TestContext, count: number): Promise<unknown> {
  const sleepers = Array.from({ length: count }, () => spawn('sleep', ['100'], { stdio: 'ignore' }));
  t.after(() => sleepers.forEach((sleeper) => sleeper.kill('SIGKILL')));
  return Promise.all(sleepers.map((sleeper) => once(sleeper, 'spawn')));
}

test('a check is due at once when many processes were started on the machine', () => {
  let tasks = 100;
  const watch = watchWith(40, () => tasks);
  assert.equal(watch.isDue(), false);
  tasks = 110;
  assert.equal(watch.isDue(), false);
  tasks = 111;
  assert.ok(watch.isDue());
  assert.equal(watch.check(), null);
  assert.equal(watch.isDue(), false, 'they are not those of the run');
});

test('a check is due as long as the run has many processes', async (t) => {
  const watch = watchWith(40, () => 100);
  await startSleepers(t, 12);
  assert.equal(watch.isDue(), false);
  assert.equal(watch.check(), null);
  assert.ok(watch.isDue());
});

test('a run with nearly all the processes that it may have is stopped', async (t) => {
  const watch = watchWith(10);
  await startSleepers(t, 9);
  assert.match(
    watch.check()?.message ?? '',
    /10 are allowed; it was stopped \(setting ENVARIUM_RUN_PROCESS_LIMIT\)/,
  );
});
