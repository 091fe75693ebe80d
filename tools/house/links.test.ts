import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { test } from 'node:test';
import { repositoryFiles, root, textOf } from '../tree/repository.ts';

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
    .filter((file) => /^docs\/contribute\/decisions\/\d{4}-/.test(file))
    .map((file) => posix.basename(file));
  const index = textOf('docs/contribute/decisions/README.md') ?? '';
  const listed = Array.from(index.matchAll(/^\| \[.*?\]\((.*?)\)/gm), ([, file = '']) => file);
  assert.ok(records.length > 0);
  assert.deepEqual(listed, records);
});

test('every page of docs that code, messages and settings name exists', () => {
  const files = repositoryFiles().filter(
    (file) => /\.(ts|tsx|mjs|rego)$|^\.env\.example$/.test(file) && !file.includes('__fixtures__'),
  );
  const named = files.flatMap((file) =>
    Array.from((textOf(file) ?? '').matchAll(/(?<![\w/.-])docs\/[\w/-]+\.md/g), ([page]) => ({ file, page })),
  );
  assert.ok(named.length > 10);
  const missing = named.filter(({ page }) => !existsSync(join(root, page)));
  assert.deepEqual(missing, []);
});

test('every source file that a page names exists', () => {
  const path =
    /`((?:acceptance|agent|bench|cli|clouds|contract|guards|protocol|server|settings|tools|web)\/[\w./-]+)`/g;
  const named = repositoryFiles()
    .filter((file) => file.endsWith('.md'))
    .flatMap((file) =>
      Array.from((textOf(file) ?? '').matchAll(path), ([, named = '']) => ({ file, named })),
    );
  assert.ok(named.length > 50);
  // `labels` is the example of the page that adds a family.
  const missing = named.filter(({ named }) => !/\blabels?\b/.test(named) && !existsSync(join(root, named)));
  assert.deepEqual(missing, []);
});

test('the front page of docs leads to every page', () => {
  const front = textOf('docs/README.md') ?? '';
  const linked = Array.from(front.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g), ([, link = '']) =>
    posix.join('docs', link),
  );
  const missing = repositoryFiles().filter(
    (file) => /^docs\/\w+\/(?:tools\/)?[\w-]+\.md$/.test(file) && !linked.includes(file),
  );
  assert.deepEqual(missing, []);
});
