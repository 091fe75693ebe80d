import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { openDataFolder } from './data-folder.ts';

const isRoot = process.getuid?.() === 0;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'data folder '));
  chmodSync(folder, 0o755);
});
afterEach(() => rmSync(folder, { recursive: true }));

test('a new data folder keeps its id, and other users cannot list its files', () => {
  const first = openDataFolder(join(folder, 'a', 'b'));
  assert.deepEqual(openDataFolder(join(folder, 'a', 'b')), first);
  assert.equal(statSync(first.path).mode & 0o777, isRoot ? 0o711 : 0o700);
  assert.equal(statSync(join(first.path, 'installation.json')).mode & 0o777, 0o600);
  assert.notEqual(openDataFolder(join(folder, 'c')).id, first.id);
});

test('the database keeps its place when the mode of a folder changes', {
  skip: !isRoot && 'only root has another place',
}, () => {
  const reachable = openDataFolder(join(folder, 'data'));
  assert.equal(reachable.place, reachable.path);
  chmodSync(folder, 0o700);
  assert.equal(openDataFolder(join(folder, 'data')).place, reachable.path);
  const hidden = openDataFolder(join(folder, 'hidden'));
  try {
    assert.equal(hidden.place, `/var/lib/envarium/${hidden.id}`);
    chmodSync(folder, 0o755);
    assert.equal(openDataFolder(join(folder, 'hidden')).place, hidden.place);
  } finally {
    rmSync(hidden.place, { recursive: true });
  }
});

test('an unreadable record is refused, not replaced', () => {
  mkdirSync(join(folder, 'data'));
  for (const content of ['', '{}', '{"id":1,"placeOutside":null}']) {
    writeFileSync(join(folder, 'data', 'installation.json'), content);
    assert.throws(
      () => openDataFolder(join(folder, 'data')),
      /installation\.json .*restore it from a backup/,
    );
  }
  writeFileSync(join(folder, 'file'), '');
  assert.throws(() => openDataFolder(join(folder, 'file', 'x')), /cannot be created/);
});

test('a folder that cannot be created is refused immediately', { skip: process.platform !== 'linux' }, () => {
  for (const impossible of ['/proc/x', '/proc/x/y', '/proc/self/x'])
    assert.throws(
      () => openDataFolder(impossible),
      new RegExp(`The data folder ${impossible} \\(ENVARIUM_DATA_DIR\\) cannot be created`),
    );
});
