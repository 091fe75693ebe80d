import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../tools/suite/temporary-folder.ts';
import { findOnPath } from './find-on-path.ts';

test('the first executable file on the PATH is found', (t) => {
  const folder = temporaryFolder(t, 'path ');
  const [first, second, third] = ['1', '2', '3'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const one of [first, second, third]) mkdirSync(one);
  mkdirSync(join(first, 'tool'));
  writeFileSync(join(second, 'tool'), '', { mode: 0o644 });
  writeFileSync(join(third, 'tool'), '');
  chmodSync(join(third, 'tool'), 0o755);
  assert.equal(findOnPath('tool', ['relative', first, second, third].join(delimiter)), join(third, 'tool'));
  assert.equal(findOnPath('other', third), null);
  assert.equal(findOnPath('tool', ''), null);
});
