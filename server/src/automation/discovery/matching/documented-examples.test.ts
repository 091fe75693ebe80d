/** Examples of docs/use/discovery.md. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { compileGlob } from './compile-glob.ts';
import { globRefusal } from './glob-refusal.ts';
import { placementsOf } from './placement.ts';

const page = readFileSync(new URL('../../../../../docs/use/discovery.md', import.meta.url), 'utf8');

/** Cells of the rows of the table that begins with a head; `\|` is a `|` in a cell. */
function rowsBelow(head: string): string[][] {
  const [, table = ''] = page.split(`\n${head}\n`);
  const lines = table.split('\n').slice(1);
  return lines
    .slice(
      0,
      lines.findIndex((line) => !line.startsWith('|')),
    )
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('\\|', '|')),
    );
}

const codeOf = (cell: string | undefined) =>
  Array.from((cell ?? '').matchAll(/`([^`]+)`/g), ([, code]) => code ?? '');

const globs = rowsBelow('| Glob | Matches | Does not match |');

test('the page has examples', () => {
  assert.ok(globs.length >= 10);
});

for (const [glob, matches, others] of globs) {
  const [globPattern = ''] = codeOf(glob);
  test(`${globPattern} matches what the page says`, async () => {
    assert.equal(await globRefusal(globPattern), null);
    const isMatch = compileGlob(globPattern);
    assert.ok(codeOf(matches).length > 0 && codeOf(others).length > 0);
    for (const path of codeOf(matches)) assert.ok(isMatch(path), path);
    for (const path of codeOf(others)) assert.ok(!isMatch(path), path);
  });
}

test('environments get the names and projects that the page says', () => {
  const rows = rowsBelow('| Folder | `topProject` | `existingSubProject` |');
  assert.ok(rows.length >= 4);
  for (const [folder, top, sub] of rows)
    for (const [environmentPlacement, cell = ''] of [
      ['topProject', top],
      ['existingSubProject', sub],
    ] as const) {
      const [path = ''] = codeOf(folder);
      const placement = placementsOf(
        [path],
        {
          environmentPlacement,
          ...{ projectId: 'this', workspaceNaming: 'default', rootPath: 'live', repository: 'live' },
        },
        [{ id: 'prod', parentId: 'this', name: 'prod' }],
      ).get(path);
      if (cell.startsWith('skipped')) {
        assert.ok(placement && 'reason' in placement, path);
        continue;
      }
      const [name, projectId = 'this'] = codeOf(cell);
      assert.deepEqual(placement, { name, projectId, workspaceName: 'default' }, path);
    }
});
