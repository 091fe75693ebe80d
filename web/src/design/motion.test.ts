import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

const web = join(import.meta.dirname, '..');

test('what moves without an end moves in steps, so that many tabs cost little', async () => {
  const endless: string[] = [];
  for await (const path of glob('**/*.css', { cwd: web })) {
    const text = await readFile(join(web, path), 'utf8');
    for (const [rule] of text.matchAll(/animation[\w-]*:[^;]*\binfinite\b[^;]*;/g))
      endless.push(`${path} ${rule}`);
  }
  assert.notDeepEqual(endless, []);
  assert.deepEqual(
    endless.filter((rule) => !rule.includes('steps(')),
    [],
  );
});
