import assert from 'node:assert/strict';
import { mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../../tools/suite/temporary-folder.ts';
import { spoolPaths } from '../spool/layout.ts';
import { StopWatch } from './stop-watch.ts';

const limits = {
  runSeconds: 1800,
  abortSeconds: 60,
  offlineGraceSeconds: 600,
  stepLogBytes: 1_000_000,
  travelBytes: 1_000_000,
};

test('a jump of the clock stops no run, and hides no lost contact', (t) => {
  const folder = temporaryFolder(t, 'stop-watch-');
  const spool = spoolPaths(folder);
  mkdirSync(spool.steps);
  writeFileSync(spool.contact, String(uptime()));
  for (const hours of [1, -1]) {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
    using watch = new StopWatch(spool, limits);
    t.mock.timers.setTime(Math.max(0, Date.now() + hours * 3_600_000));
    watch.check();
    assert.equal(watch.reason, null);
    t.mock.timers.reset();
  }
  writeFileSync(spool.contact, String(uptime() - 601));
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() - 3_600_000 });
  using watch = new StopWatch(spool, limits);
  assert.match(watch.reason?.message ?? '', /no contact with the server/);
});

test('what a command prints has a limit also where it does not go to the log of a step', (t) => {
  const folder = temporaryFolder(t, 'stop-watch-');
  const spool = spoolPaths(folder);
  mkdirSync(spool.scratch);
  for (const [name, most, expected] of [
    ['init-1.log', 4_000_000, /printed more than 4 MB, 4 times .* ENVARIUM_STEP_LOG_LIMIT_MB/],
    ['plan.json', 536_870_888, /printed more than 512 MB that have to be read/],
  ] as const) {
    const file = join(spool.scratch, name);
    writeFileSync(file, '');
    truncateSync(file, most);
    using watch = new StopWatch(spool, limits);
    const message = () => watch.reason?.message ?? '';
    assert.equal(message(), '');
    truncateSync(file, most + 1);
    watch.check();
    assert.match(message(), expected);
    rmSync(file);
  }
});

for (const [what, size, expected] of [
  [
    'empties its log is stopped with a hint',
    0,
    'task:run shortened its own log, which is no longer complete: in scripts, "> /dev/stdout" and "> /dev/stderr" empty it: write ">&2" or ">> /dev/stderr"',
  ],
  [
    'extends its log is stopped without a hint',
    3 * 2 ** 30,
    'task:run extended its own log without printing',
  ],
] as const)
  test(`a command that ${what} about scripts`, (t) => {
    const folder = temporaryFolder(t, 'stop-watch-');
    const spool = spoolPaths(folder);
    mkdirSync(spool.steps);
    const log = join(spool.steps, 'task_run.raw');
    writeFileSync(log, 'printed\n');
    using watch = new StopWatch(spool, limits);
    assert.equal(watch.checkLogs(), null);
    truncateSync(log, size);
    assert.equal(watch.checkLogs()?.message, expected);
  });
