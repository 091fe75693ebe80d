import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { loadSealingKey } from './key-ring.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'key ring '));
});
afterEach(() => rmSync(folder, { recursive: true }));
const settings = () => ({ dataFolder: folder, sealingKeyFile: undefined });

test('a new installation gets a key file that only its owner can read, and keeps it', () => {
  const made = loadSealingKey(settings(), true);
  assert.equal(statSync(join(folder, 'sealing.key')).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(folder), ['sealing.key']);
  const again = loadSealingKey(settings(), false);
  assert.ok(again.keys[0].key.equals(made.keys[0].key));
});

test('a folder that cannot be created is reported with the key file', { timeout: 5_000 }, () => {
  const file = '/proc/envarium/deep/sealing.key';
  assert.throws(
    () => loadSealingKey({ ...settings(), sealingKeyFile: file }, true),
    new RegExp(`The folder of the sealing key file ${file} cannot be created`),
  );
});

test('a missing file is refused by name once something was sealed', () => {
  assert.throws(
    () => loadSealingKey(settings(), false),
    new RegExp(`${join(folder, 'sealing.key')} does not exist`),
  );
});

test('a file that others can read is refused, one that the group can read is not', () => {
  loadSealingKey(settings(), true);
  chmodSync(join(folder, 'sealing.key'), 0o604);
  assert.throws(() => loadSealingKey(settings(), false), /other users/);
  chmodSync(join(folder, 'sealing.key'), 0o440);
  assert.doesNotThrow(() => loadSealingKey(settings(), false));
});

test('several keys are read in their order; anything else is refused without showing it', () => {
  const file = join(folder, 'keys');
  const named = { dataFolder: folder, sealingKeyFile: file };
  loadSealingKey(named, true);
  const line = readFileSync(file, 'utf8').split('\n')[2];
  const key = Buffer.alloc(32, 7).toString('base64');
  writeFileSync(file, `00000001 ${key}\n# older\n${line}\n`);
  assert.deepEqual(
    loadSealingKey(named, false).keys.map((one) => one.id.toString('hex')),
    ['00000001', line?.slice(0, 8)],
  );
  for (const content of [
    '',
    '# nothing',
    `1 ${key}`,
    '00000001 c2hvcnQ=',
    `00000001 ${key}\n00000001 ${key}`,
  ]) {
    writeFileSync(file, content);
    assert.throws(
      () => loadSealingKey(named, false),
      (error: Error) => error.message.includes(file) && !error.message.includes(key),
    );
  }
});
