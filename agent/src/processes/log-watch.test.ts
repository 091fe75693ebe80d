import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../../../tools/suite/temporary-folder.ts';
import { isMostlyEmpty, LogWatch } from './log-watch.ts';

test('a log that was extended differs from one that only needs little space', (t) => {
  const folder = temporaryFolder(t, 'unprinted-');
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

function watched(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'log-watch-'));
  const found = Promise.withResolvers<string>();
  const watch = new LogWatch(folder, ({ text }) => found.resolve(text));
  t.after(() => {
    watch[Symbol.dispose]();
    rmSync(folder, { recursive: true });
  });
  const log = join(folder, 'tf_apply');
  appendFileSync(log, 'printed\n');
  const look = () => watch.look().map(({ name, text }) => `${name} ${text}`);
  assert.deepEqual(look(), []);
  return { log, look, found: found.promise };
}

test('a log that only grows is not reported', (t) => {
  const { log, look } = watched(t);
  for (let size = 1; size < 100_000; size *= 3) {
    appendFileSync(log, 'x'.repeat(size));
    assert.deepEqual(look(), []);
  }
});

test('a log that was shortened is reported, also if it grew again', (t) => {
  const { log, look } = watched(t);
  truncateSync(log, 3);
  const finding = 'tf_apply shortened its own log, which is no longer complete';
  assert.deepEqual(look(), [finding]);
  appendFileSync(log, 'printed after all\n');
  assert.deepEqual(look(), [finding]);
});

test('a log that was shortened and is longer than before is reported', (t) => {
  const { log, look } = watched(t);
  truncateSync(log, 0);
  appendFileSync(log, 'other lines, which are longer\n');
  assert.deepEqual(look(), ['tf_apply overwrote its own log, which is no longer complete']);
});

test('a log that was overwritten in its old size is reported', (t) => {
  const { log, look } = watched(t);
  writeFileSync(log, 'painted\n', { flag: 'r+' });
  assert.deepEqual(look(), ['tf_apply overwrote its own log, which is no longer complete']);
});

test('a log that grows is read as soon as the system reports it', async (t) => {
  const { log, found } = watched(t);
  truncateSync(log, 0);
  assert.match(await found, /shortened its own log/);
});
