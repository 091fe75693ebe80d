import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../../../../tools/suite/temporary-folder.ts';
import { type CachedResult, readResults, writeResult } from './results.ts';

function folderFor(t: TestContext): string {
  const folder = temporaryFolder(t, 'results-');
  return join(folder, 'results');
}

const result = (changes: Partial<CachedResult> = {}): CachedResult => ({
  at: new Date().toISOString(),
  log: 'Initialized\n',
  files: { '.terraform/terraform.tfstate': '{}' },
  packages: [],
  code: 'commit',
  folders: [''],
  codeHash: null,
  ...changes,
});

test('a result is read as it was written, and only its owner can read or change it', (t) => {
  const folder = folderFor(t);
  const written = result();
  writeResult(folder, 'key', written);
  assert.deepEqual(readResults(folder, 'key'), [written]);
  assert.deepEqual(readResults(folder, 'other'), []);
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
  assert.deepEqual(readResults(folder, 'key'), []);
  assert.equal(existsSync(file), false);
  writeResult(folder, 'key', result({ at: new Date(Date.now() - 8 * 86_400_000).toISOString() }));
  assert.deepEqual(readResults(folder, 'key'), []);
  assert.equal(existsSync(file), false);
});

test('a result that is too large is not stored', (t) => {
  const folder = folderFor(t);
  writeResult(folder, 'key', result({ log: 'x'.repeat(300_000) }));
  assert.deepEqual(readResults(folder, 'key'), []);
});

test('the least recently used results are removed', (t) => {
  const folder = folderFor(t);
  writeResult(folder, 'used', result());
  writeResult(folder, 'unused', result());
  const before = new Date(Date.now() - 60_000);
  for (const name of ['used', 'unused']) utimesSync(join(folder, `${name}.json`), before, before);
  assert.equal(readResults(folder, 'used').length, 1);
  for (let index = 0; index < 199; index += 1) writeResult(folder, `key-${index}`, result());
  assert.equal(readdirSync(folder).length, 200);
  assert.equal(readResults(folder, 'used').length, 1);
  assert.deepEqual(readResults(folder, 'unused'), []);
});

test('a key has the newest results of several codes, one of each', (t) => {
  const folder = folderFor(t);
  for (const code of ['1', '2', '1', '3']) writeResult(folder, 'key', result({ code, log: `of ${code}` }));
  assert.deepEqual(
    readResults(folder, 'key').map(({ code }) => code),
    ['3', '1', '2'],
  );
  writeResult(folder, 'key', result({ code: '4', codeHash: 'same' }));
  writeResult(folder, 'key', result({ code: '5', codeHash: 'same' }));
  assert.deepEqual(
    readResults(folder, 'key').map(({ code }) => code),
    ['5', '3', '1', '2'],
  );
  for (let number = 6; number < 20; number += 1)
    writeResult(folder, 'key', result({ code: String(number), log: 'x'.repeat(60_000) }));
  assert.deepEqual(
    readResults(folder, 'key').map(({ code }) => code),
    ['19', '18', '17', '16'],
  );
});
