import assert from 'node:assert/strict';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../../tools/suite/temporary-folder.ts';
import { nextInRelease } from './programs.ts';

test('programs of the same release belong to a program, wherever a link to it is', (t) => {
  const folder = temporaryFolder(t, 'release-');
  for (const name of ['pulumi', 'pulumi-language-nodejs', 'pulumi-language-yaml', 'git', 'terraform'])
    writeFileSync(join(folder, name), '');
  const link = join(folder, 'link');
  symlinkSync(join(folder, 'pulumi'), link);
  const hosts = ['pulumi-language-nodejs', 'pulumi-language-yaml'].map((name) => join(folder, name));
  assert.deepEqual(nextInRelease('pulumi', join(folder, 'pulumi')).sort(), hosts);
  assert.deepEqual(nextInRelease('pulumi', link).sort(), hosts);
  assert.deepEqual(nextInRelease('terraform', join(folder, 'terraform')), [], 'it comes alone');
  assert.deepEqual(nextInRelease('pulumi', ''), [], 'it is not there');
});
