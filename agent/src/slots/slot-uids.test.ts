import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../../../tools/suite/temporary-folder.ts';
import { allocateSlotUids } from './slot-uids.ts';

function prepare(t: TestContext, count = 5) {
  const folder = temporaryFolder(t, 'slot-uids-');
  const spool = (name: string) => {
    mkdirSync(join(folder, name), { recursive: true });
    return join(folder, name);
  };
  const allocate = (spoolFolder: string, slots: number, passwd = '', keptTrees = 0, running: number[] = []) =>
    allocateSlotUids({
      range: { base: 58000, count },
      slots,
      keptTrees,
      spoolFolder,
      registryFolder: join(folder, 'registry'),
      passwd,
      runningUids: new Set(running),
    });
  return { spool, allocate };
}

const from = (first: number, count: number) => Array.from({ length: count }, (_, index) => first + index);

test('two agents get different uids, and each gets the same ones after a restart', (t) => {
  const { spool, allocate } = prepare(t, 100);
  assert.deepEqual(allocate(spool('a'), 2), from(58000, 8));
  assert.deepEqual(allocate(spool('b'), 2), from(58008, 8));
  assert.deepEqual(allocate(spool('b'), 2), from(58008, 8));
  assert.deepEqual(allocate(spool('a'), 1), from(58000, 4));
});

test('kept trees have uids in addition to those of the slots, as far as the range goes', (t) => {
  const { spool, allocate } = prepare(t, 10);
  assert.deepEqual(allocate(spool('a'), 1, '', 3), from(58000, 7));
  assert.deepEqual(allocate(spool('b'), 1, '', 3), from(58007, 3));
});

test('the uids of an agent without a spool are released', (t) => {
  const { spool, allocate } = prepare(t);
  const gone = spool('gone');
  allocate(gone, 4);
  rmSync(gone, { recursive: true });
  assert.deepEqual(allocate(spool('next'), 5), [58000, 58001, 58002, 58003, 58004]);
});

test('a range that is too small is refused with the names of the settings that change it', (t) => {
  const { spool, allocate } = prepare(t);
  assert.throws(
    () => allocate(spool('a'), 6),
    /only 5 .*6 slots.*ENVARIUM_SLOT_UID_COUNT.*ENVARIUM_SLOT_UID_BASE/,
  );
});

test('an agent that finds too few reports who owns the others and keeps none', (t) => {
  const { spool, allocate } = prepare(t, 18);
  const folders = ['a', 'b', 'c', 'd'].map(spool);
  for (const folder of folders) allocate(folder, 1);
  const many = spool('many');
  assert.throws(
    () => allocate(many, 3),
    (error: Error) =>
      error.message.includes(`only 2 of`) &&
      error.message.includes(`claimed for ${folders.slice(0, 3).join(', ')} and 1 more)`),
  );
  assert.deepEqual(allocate(spool('next'), 2), [58016, 58017]);
});

test('the uid of an account is never used', (t) => {
  const { spool, allocate } = prepare(t);
  assert.deepEqual(
    allocate(spool('a'), 2, 'alice:x:58001:58001::/home/alice:/bin/sh\n'),
    [58000, 58002, 58003, 58004],
  );
});

test('a uid under which other processes run is not claimed', (t) => {
  const { spool, allocate } = prepare(t, 3);
  assert.deepEqual(allocate(spool('a'), 1, '', 0, [58000, 58002]), [58001]);
  assert.deepEqual(allocate(spool('a'), 1, '', 0, [58001, 58000, 58002]), [58001], 'its own run');
  assert.throws(() => allocate(spool('b'), 1, '', 0, [58000, 58002]), /processes run under 58000, 58002/);
});
