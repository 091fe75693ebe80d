import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../../../tools/suite/temporary-folder.ts';
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

test('what the agent stores of a run counts with what its work folder has', (t) => {
  const folder = temporaryFolder(t, 'limits-');
  const [workRoot, spoolFolder] = [join(folder, 'work', 'root'), join(folder, 'attempt')];
  for (const one of [workRoot, join(spoolFolder, 'scratch')]) mkdirSync(one, { recursive: true });
  const megabyte = 1024 * 1024;
  const run = { slotUid: null, workRoot, spoolFolder };
  const watch = new ResourceWatch({ ...limits, diskBytes: 12 * megabyte }, run);
  const fill = (file: string) => writeFileSync(file, Buffer.alloc(8 * megabyte, 'x'), { flush: true });
  /** Other tests free space of the file system at the same time: fills it until that is noticed. */
  const reasonAfterFilling = (place: string): string => {
    for (let file = 0; file < 50; file++) {
      fill(join(place, `file-${file}`));
      const reason = watch.check();
      if (reason !== null) return reason.message;
    }
    return '';
  };
  fill(join(workRoot, 'a'));
  assert.equal(watch.check(), null);
  assert.match(
    reasonAfterFilling(join(spoolFolder, 'scratch')),
    /^the work folder of the run and its part of the spool folder have \d+ MB, and 12 MB are allowed; .*ENVARIUM_RUN_DISK_LIMIT_MB/,
  );
  assert.match(reasonAfterFilling(workRoot), /^the work folder of the run has \d+ MB, and 12 MB are allowed/);
});
