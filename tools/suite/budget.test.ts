import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { textOf } from '../tree/repository.ts';
import { budget, lastRun, minutesOver, recordRun } from './budget.ts';

test('a run is compared with the budget as if it had had two processors', () => {
  const minutes = (count: number, processors = 2, builds = 0) =>
    minutesOver({ seconds: count * 60, processors, builds });
  assert.deepEqual([minutes(45), minutes(46), minutes(23, 4), minutes(20, 4)], [0, 1, 1, 0]);
  assert.deepEqual([minutes(70, 2, 1), minutes(72, 2, 14)], [0, 2]);
});

test('the last run of the suite is remembered', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'envarium budget '));
  t.after(() => rmSync(folder, { recursive: true }));
  const store = join(folder, 'cache', 'last.json');
  assert.equal(lastRun(store), null);
  const run = { seconds: 1500, processors: 2, builds: 0 };
  recordRun(run, store);
  assert.deepEqual(lastRun(store), run);
});

test('the guide for contributors names the budget', () => {
  const words = new RegExp(`${budget.suite} minutes on two cores, ${budget.withBuilds} with the builds`);
  assert.match(textOf('CONTRIBUTING.md')?.replaceAll('\n', ' ') ?? '', words);
});
