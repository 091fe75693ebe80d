import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryForRuns, runsAtOnce } from './capacity.ts';

test('the number of runs is the one that is set, or fits processors and memory', () => {
  const auto = { concurrency: 'auto', memoryPerRunMegabytes: 256 } as const;
  assert.equal(runsAtOnce({ ...auto, concurrency: 5 }, { processors: 1, megabytes: 10 }), 5);
  assert.equal(runsAtOnce(auto, { processors: 4, megabytes: 16_000 }), 8);
  assert.equal(runsAtOnce(auto, { processors: 4, megabytes: 1000 }), 3);
  assert.equal(runsAtOnce(auto, { processors: 1, megabytes: 100 }), 1);
  assert.equal(runsAtOnce(auto, { processors: 200, megabytes: 1_000_000 }), 64);
  assert.equal(runsAtOnce({ ...auto, memoryPerRunMegabytes: 0 }, { processors: 4, megabytes: 100 }), 8);
  assert.ok(runsAtOnce(auto) >= 1);
});

test('another run waits for memory, which runs that have just begun have not taken yet', () => {
  let [available, now] = [700, 0];
  const memory = new MemoryForRuns(
    256,
    () => available,
    () => now,
  );
  assert.equal(memory.shortage(1), null);
  memory.begin();
  memory.begin();
  assert.deepEqual(memory.shortage(2), { availableMegabytes: 700, neededMegabytes: 768 });
  assert.equal(memory.lastingShortage(2), null);
  now = 31_000;
  assert.equal(memory.shortage(2), null);
  available = 200;
  assert.deepEqual(memory.shortage(1), { availableMegabytes: 200, neededMegabytes: 256 });
  assert.equal(memory.shortage(0), null);
  assert.equal(new MemoryForRuns(0, () => 0).shortage(5), null);
});
