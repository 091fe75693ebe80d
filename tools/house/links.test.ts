import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { test } from 'node:test';
import { repositoryFiles, root, textOf } from '../repository.ts';

test('every link from one page to another names a file', () => {
  const pages = repositoryFiles().filter((file) => file.endsWith('.md'));
  const broken = pages.flatMap((page) =>
    Array.from((textOf(page) ?? '').matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g), ([, link = '']) =>
      posix.join(posix.dirname(page), link),
    )
      .filter((file) => !existsSync(join(root, file)))
      .map((file) => `${page} → ${file}`),
  );
  assert.deepEqual(broken, []);
});

test('the index of decision records lists every record, in order', () => {
  const records = repositoryFiles()
    .filter((file) => /^docs\/decisions\/\d{4}-/.test(file))
    .map((file) => posix.basename(file));
  const index = textOf('docs/decisions/README.md') ?? '';
  const listed = Array.from(index.matchAll(/^\| \[.*?\]\((.*?)\)/gm), ([, file = '']) => file);
  assert.ok(records.length > 0);
  assert.deepEqual(listed, records);
});
