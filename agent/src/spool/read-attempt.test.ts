import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { spoolPaths } from './layout.ts';
import { readOutcome, readRunner, readSlotRecord } from './read-attempt.ts';
import { writeDurably } from './write-file.ts';

function folderOf(t: { after(end: () => void): void }): string {
  const folder = mkdtempSync(join(tmpdir(), 'spool-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
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
