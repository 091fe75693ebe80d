import assert from 'node:assert/strict';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../../tools/suite/temporary-folder.ts';
import { spoolPaths } from './layout.ts';
import { readOutcome, readRunner, readShipped, readSlotRecord, writeShipped } from './read-attempt.ts';
import { removeFolder, writeDurably } from './write-file.ts';

function folderOf(t: { after(end: () => void): void }): string {
  return temporaryFolder(t, 'spool-');
}

test('a power cut may leave the records of processes torn: they count as missing', (t) => {
  const paths = spoolPaths(folderOf(t));
  writeFileSync(paths.slot, '');
  writeFileSync(paths.runner, '{"pid": 1');
  assert.deepEqual([readSlotRecord(paths), readRunner(paths)], [null, null]);
  writeFileSync(paths.outcome, '{"result"');
  assert.throws(() => readOutcome(paths), SyntaxError);
});

test('a durable file appears only if the files that belong to it can be made durable', async (t) => {
  const folder = folderOf(t);
  const file = join(folder, 'outcome.json');
  await assert.rejects(writeDurably(file, '{}', [join(folder, 'missing')]), /ENOENT/);
  assert.equal(readOutcome(spoolPaths(folder)), null);
});

test('the last whole record of what was sent counts, whatever a full disk has left of the next one', (t) => {
  const paths = spoolPaths(folderOf(t));
  assert.deepEqual(readShipped(paths), { rawBytes: {} });
  writeFileSync(paths.shipped, '{"rawBytes":{"tf:init":1}}\n');
  assert.deepEqual(readShipped(paths), { rawBytes: { 'tf:init': 1 } });
  writeShipped(paths, { rawBytes: { 'tf:init': 1, 'tf:plan': 2 } });
  appendFileSync(paths.shipped, '{"rawBytes":{"tf:i');
  assert.deepEqual(readShipped(paths), { rawBytes: { 'tf:init': 1, 'tf:plan': 2 } });
  writeShipped(paths, { rawBytes: { 'tf:init': 3 } });
  assert.deepEqual(readShipped(paths), { rawBytes: { 'tf:init': 3 } });
});

test('a folder is removed with large files and links, but not what the links lead to', async (t) => {
  const folder = folderOf(t);
  const [attempt, other] = [join(folder, 'attempt'), join(folder, 'other')];
  for (const one of [join(attempt, 'steps', 'deep'), other]) mkdirSync(one, { recursive: true });
  writeFileSync(join(other, 'file'), 'x');
  writeFileSync(join(attempt, 'steps', 'deep', 'log'), '');
  truncateSync(join(attempt, 'steps', 'deep', 'log'), 1 << 24);
  symlinkSync(other, join(attempt, 'link'));
  symlinkSync('nowhere', join(attempt, 'steps', 'broken'));
  await removeFolder(attempt);
  await removeFolder(attempt);
  assert.equal(existsSync(attempt), false);
  assert.deepEqual(readdirSync(other), ['file']);
});
