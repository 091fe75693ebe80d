import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Batch } from './run-tests.ts';

/**
 * Runs one batch for each given content of a test file, in a process of its own: the runner refuses to run
 * inside a test.
 */
function runBatches(t: TestContext, contents: readonly string[], fileMinutes = 1) {
  const folder = mkdtempSync(join(tmpdir(), 'envarium tests '));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const batches: Batch[] = contents.map((content, index) => {
    const file = join(folder, `file-${index}.test.mjs`);
    writeFileSync(file, `import assert from 'node:assert';\nimport { test } from 'node:test';\n${content}\n`);
    return { files: [file], concurrency: 1, fileMinutes };
  });
  const module = pathToFileURL(join(import.meta.dirname, 'run-tests.ts')).href;
  const script = join(folder, 'run.ts');
  writeFileSync(
    script,
    `import { runTests } from '${module}'; console.log(await runTests(${JSON.stringify(batches)}));`,
  );
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { stdout } = spawnSync(process.execPath, [script], { env, encoding: 'utf8' });
  const lines = stdout.trimEnd().split('\n');
  return { lines, isGood: lines.at(-1) === 'true', counts: lines.slice(-9, -2) };
}

test('the counts of all batches come last, as one sum', (t) => {
  const { counts, isGood } = runBatches(t, [
    `test('one', () => {});`,
    `test('two', () => {}); test('three', { skip: 'no such tool' }, () => {});`,
  ]);
  assert.deepEqual(counts, [
    'ℹ tests 3',
    'ℹ suites 0',
    'ℹ pass 2',
    'ℹ fail 0',
    'ℹ cancelled 0',
    'ℹ skipped 1',
    'ℹ todo 0',
  ]);
  assert.equal(isGood, true);
});

test('every skip is listed with its reason', (t) => {
  const { lines } = runBatches(t, [
    `test('one', { skip: 'no such tool' }, () => {}); test('two', (t) => t.skip('found out late'));`,
  ]);
  assert.match(
    lines.join('\n'),
    /Skipped:\n {2}one \(.*file-0\.test\.mjs\): no such tool\n {2}two \(.*\): found out late\n/,
  );
});

test('a failure in any batch fails the whole', (t) => {
  const { counts, isGood } = runBatches(t, [
    `test('one', () => assert.equal(1, 2));`,
    `test('two', () => {});`,
  ]);
  assert.deepEqual([counts[2], counts[3], isGood], ['ℹ pass 1', 'ℹ fail 1', false]);
});

test('a file that does not load fails', (t) => {
  const { isGood } = runBatches(t, [`import './no-such-file.ts';`]);
  assert.equal(isGood, false);
});

test('a file that never ends is ended and fails', (t) => {
  const { lines, isGood } = runBatches(t, [`test('one', () => {}); setInterval(() => {}, 1000);`], 0.01);
  assert.equal(isGood, false);
  assert.match(lines.join('\n'), /Ended after 0\.01 minutes; still open: .*Timeout/);
});
