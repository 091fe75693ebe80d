/** The table of rules names tests that exist. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { rules } from './rules.ts';

const root = join(import.meta.dirname, '../..');

/** Whether a file has a test of exactly this name, on one line or below `test(`. */
function hasTest(file: string, name: string): boolean {
  const text = readFileSync(join(root, file), 'utf8');
  const begins = text.split(/^\s*test\(\s*/m).slice(1);
  return ["'", '"', '`'].some((quote) => begins.some((each) => each.startsWith(`${quote}${name}${quote},`)));
}

test('each rule of recovery names a test that exists, and no test twice', () => {
  const all = Object.values(rules).flat();
  assert.deepEqual(
    all.filter(({ file, test: name }) => !hasTest(file, name)),
    [],
  );
  assert.equal(new Set(all.map(({ test: name }) => name)).size, all.length);
});
