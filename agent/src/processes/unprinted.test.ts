import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { isMostlyEmpty } from './unprinted.ts';

test('a log that was extended differs from one that only needs little space', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'unprinted-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const log = join(folder, 'log');
  const sizeOf = () => statSync(log).size;
  // A file system that compresses needs hardly a block for it.
  writeFileSync(log, 'Still creating... [10s elapsed]\n'.repeat(300_000));
  assert.equal(isMostlyEmpty(log, sizeOf()), false);
  truncateSync(log, 3 * 2 ** 30);
  assert.equal(isMostlyEmpty(log, sizeOf()), true);
  appendFileSync(log, 'printed after all\n');
  assert.equal(isMostlyEmpty(log, sizeOf()), true);
  writeFileSync(log, '');
  assert.equal(isMostlyEmpty(log, 0), true);
});
