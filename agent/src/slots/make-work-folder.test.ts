import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../../tools/suite/temporary-folder.ts';
import { openSpool } from '../spool/open-spool.ts';
import { makeWorkFolder } from './make-work-folder.ts';

test('a folder that the file system does not allow is refused immediately with the name of its setting', {
  timeout: 5_000,
}, async () => {
  assert.throws(() => makeWorkFolder('/proc/x/y', tmpdir()), /ENVARIUM_WORK_DIR: .*cannot be created/);
  await assert.rejects(openSpool('/proc/x/y', 0), /ENVARIUM_SPOOL_DIR: .*cannot be created/);
});

const asRoot = {
  skip: process.getuid?.() === 0 ? false : 'needs root: only then runs have users of their own',
};

test(
  'a work folder that the users of runs cannot traverse is refused with the name of its setting',
  asRoot,
  (t) => {
    const folder = temporaryFolder(t, 'place-');
    mkdirSync(join(folder, 'spool'));
    chmodSync(folder, 0o711);
    const work = makeWorkFolder(join(folder, 'a b', 'work'), join(folder, 'spool'));
    assert.equal(statSync(work).mode & 0o777, 0o711);
    chmodSync(folder, 0o700);
    assert.throws(
      () => makeWorkFolder(join(folder, 'work'), join(folder, 'spool')),
      /ENVARIUM_WORK_DIR: .*place-.* is closed to them/,
    );
  },
);
