import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, uptime } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { spoolPaths } from '../spool/layout.ts';
import { StopWatch } from './stop-watch.ts';

test('a jump of the clock stops no run, and hides no lost contact', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'stop-watch-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const spool = spoolPaths(folder);
  mkdirSync(spool.steps);
  writeFileSync(spool.contact, String(uptime()));
  const limits = {
    runSeconds: 1800,
    abortSeconds: 60,
    offlineGraceSeconds: 600,
    stepLogBytes: 1_000_000,
    travelBytes: 1_000_000,
  };
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
