import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { RunFailure } from '../../processes/failure.ts';
import { findLines, readCapture } from './command-files.ts';

test('a plan that is too large to be read fails with its size, and is not loaded', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'capture-'));
  t.after(() => rmSync(folder, { recursive: true }));
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
  const folder = mkdtempSync(join(tmpdir(), 'lines-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const log = join(folder, 'log');
  const before = 'found before\n';
  writeFileSync(log, `${before}found one\n${'found '.repeat(1_000_000)}\nother\nfound two`);
  const captures = new Map<string, Uint8Array>();
  const finds = { pattern: /^found .+/, as: 'lines' };
  const command = { step: 's', program: 'p', label: 'p', args: [], finds };
  await findLines(command, log, before.length, captures);
  assert.equal(String(captures.get('lines')), 'found one\nfound two');
});
