import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../../../../tools/suite/temporary-folder.ts';
import { type CachedResult, readResult, writeResult } from './results.ts';

function folderFor(t: TestContext): string {
  const folder = temporaryFolder(t, 'results-');
  return join(folder, 'results');
}

const result = (changes: Partial<CachedResult> = {}): CachedResult => ({
  at: new Date().toISOString(),
  log: 'Initialized\n',
  files: { '.terraform/terraform.tfstate': '{}' },
  packages: [],
  ...changes,
});

test('a result is read as it was written, and only its owner can read or change it', (t) => {
  const folder = folderFor(t);
  const written = result();
  writeResult(folder, 'key', written);
  assert.deepEqual(readResult(folder, 'key'), written);
  assert.equal(readResult(folder, 'other'), null);
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  assert.deepEqual(
    readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777),
    [0o600],
  );
});

test('a damaged result and an old one are removed', (t) => {
  const folder = folderFor(t);
  const file = join(folder, 'key.json');
  writeResult(folder, 'key', result());
  writeFileSync(file, readFileSync(file, 'utf8').replace('Initialized', 'Initialised'));
  assert.equal(readResult(folder, 'key'), null);
  assert.equal(existsSync(file), false);
  writeResult(folder, 'key', result({ at: new Date(Date.now() - 8 * 86_400_000).toISOString() }));
  assert.equal(readResult(folder, 'key'), null);
  assert.equal(existsSync(file), false);
});

test('a result that is too large is not stored', (t) => {
  const folder = folderFor(t);
  writeResult(folder, 'key', result({ log: 'x'.repeat(300_000) }));
  assert.equal(readResult(folder, 'key'), null);
});

test('the least recently used results are removed', (t) => {
  const folder = folderFor(t);
  writeResult(folder, 'used', result());
  writeResult(folder, 'unused', result());
  const before = new Date(Date.now() - 60_000);
  for (const name of ['used', 'unused']) utimesSync(join(folder, `${name}.json`), before, before);
  assert.notEqual(readResult(folder, 'used'), null);
  for (let index = 0; index < 199; index += 1) writeResult(folder, `key-${index}`, result());
  assert.equal(readdirSync(folder).length, 200);
  assert.notEqual(readResult(folder, 'used'), null);
  assert.equal(readResult(folder, 'unused'), null);
});
