import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { test } from 'node:test';
import { repositoryFiles, textOf } from '../tree/repository.ts';
import { rooms } from './rooms.ts';

const files = repositoryFiles().filter((file) => (file.split('/')[0] ?? '') in rooms);
const sources = files.filter((file) => /\.(ts|tsx|mjs)$/.test(file));

/** Rooms that say nothing about what is in them. */
const emptyNames = new Set([
  'util',
  'utils',
  'helper',
  'helpers',
  'common',
  'shared',
  'misc',
  'lib',
  'manager',
  'managers',
]);

test('no folder or file has a name that says nothing', () => {
  const wrong = files.filter((file) =>
    file.split('/').some((part) => emptyNames.has(part.replace(/\..*$/, ''))),
  );
  assert.deepEqual(wrong, []);
});

test('files and folders are named in kebab-case, components of the web interface as themselves', () => {
  const isKebab = (part: string) => /^(__fixtures__|\.?[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9-]+)*)$/.test(part);
  // A file of a component bears its name.
  const isComponent = (part: string, file: string) =>
    file.startsWith('web/') && file.endsWith('.tsx') && /^[A-Z][A-Za-z0-9]*\.tsx$/.test(part);
  const wrong = sources.filter(
    (file) => !file.split('/').every((part) => isKebab(part) || isComponent(part, file)),
  );
  assert.deepEqual(wrong, []);
});

test('a test is next to the file or folder that it tests', () => {
  const wrong = files.filter((file) => /\.(spec|tests)\.ts$/.test(file) || file.includes('__tests__'));
  assert.deepEqual(wrong, []);
});

test('no enums and no namespaces', () => {
  const wrong = sources.filter((file) =>
    /^\s*(export\s+)?(declare\s+)?(const\s+)?(enum|namespace)\s+\w/m.test(textOf(file) ?? ''),
  );
  assert.deepEqual(wrong, []);
});

test('an entry runs when it is imported: the launcher imports it', () => {
  const question = ['import.meta', 'main'].join('.');
  const wrong = sources.filter((file) => (textOf(file) ?? '').includes(question));
  assert.deepEqual(wrong, [], `${basename('tools/launch.mjs')} starts entries by importing them`);
});
