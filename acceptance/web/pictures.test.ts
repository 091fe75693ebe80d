import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { colorSchemes, fileOf, imagesFolder, pictures } from './pictures.ts';

test('the folder of pictures has exactly those that the script makes, and the page shows them', async () => {
  const wanted = Object.keys(pictures).flatMap((name) => colorSchemes.map((scheme) => fileOf(name, scheme)));
  assert.deepEqual((await readdir(imagesFolder)).toSorted(), wanted.toSorted());
  const page = await readFile(join(imagesFolder, '..', 'start', 'web.md'), 'utf8');
  for (const name of Object.keys(pictures))
    assert.ok(page.includes(`(../images/${fileOf(name, 'light')})`), name);
});
