import assert from 'node:assert/strict';
import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../../../tools/suite/temporary-folder.ts';
import { RunFailure } from '../../processes/failure.ts';
import { findLines, readCapture } from './command-files.ts';

test('a plan that is too large to be read fails with its size, and is not loaded', (t) => {
  const folder = temporaryFolder(t, 'capture-');
  const file = join(folder, 'plan.json');
  writeFileSync(file, '{}');
  assert.equal(Buffer.from(readCapture(file, 'terraform show')).toString(), '{}');
  truncateSync(file, 600_000_000);
  assert.throws(
    () => readCapture(file, 'terraform show'),
    (error) =>
      error instanceof RunFailure && /terraform show printed 600 MB, and at most 536 MB/.test(error.message),
  );
});

test('lines are found from an offset on, between lines that are longer than any of them', async (t) => {
  const folder = temporaryFolder(t, 'lines-');
  const log = join(folder, 'log');
  const before = 'found before\n';
  writeFileSync(log, `${before}found one\n${'found '.repeat(1_000_000)}\nother\nfound two`);
  const captures = new Map<string, Uint8Array>();
  const finds = { pattern: /^found .+/, as: 'lines' };
  const command = { step: 's', program: 'p', label: 'p', args: [], finds };
  await findLines(command, log, before.length, captures);
  assert.equal(String(captures.get('lines')), 'found one\nfound two');
});
