/**
 * Adds a family to a copy of the repository as docs/contribute/adding-a-family.md says: a folder in the contract, one in
 * the server, a migration, and one line in each of the lists below. Nothing else may need an edit for the copy
 * to compile, to answer the family's operations, and to keep the rules of rights and of odd values.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { testServerVariable } from '../server/src/database/test-server.ts';
import { repositoryFiles, root } from './repository.ts';

const quoted = (path: string) => `'${path}'`;

/** Lines that are added to shared files, each before the line that contains `before`. */
const sharedLines = [
  {
    file: 'contract/src/operations.ts',
    before: './system/operations.ts',
    line: `  ...(await import(${quoted('./labels/operations.ts')})).operations,`,
  },
  {
    file: 'server/src/families.ts',
    before: './templates/family.ts',
    line: `  (await import(${quoted('./labels/family.ts')})).family,`,
  },
] as const;

/** The files that a family adds, with `.txt` behind their names, because they fit into the copy only. */
const added = 'tools/sham-family/';

const folder = mkdtempSync(join(tmpdir(), 'adding-a-family-'));
after(() => rmSync(folder, { recursive: true, force: true }));

function copy(from: string, to: string): void {
  mkdirSync(dirname(join(folder, to)), { recursive: true });
  cpSync(join(root, from), join(folder, to));
}

function copyTree(): void {
  for (const file of repositoryFiles()) {
    const isNeeded =
      /^(clouds|contract|guards|protocol|settings|agent|server|cli|acceptance|bench|tools|docs)\//.test(file);
    const isSham = file.startsWith('tools/sham-');
    if (!isSham && (isNeeded || /^(package\.json|tsconfig\.json|\.env\.example)$/.test(file)))
      copy(file, file);
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
}

function addFamily(): void {
  for (const file of repositoryFiles(join(root, added)))
    copy(file, file.slice(added.length).replace(/\.txt$/, ''));
  for (const { file, before, line } of sharedLines) {
    const lines = readFileSync(join(folder, file), 'utf8').split('\n');
    const at = lines.findIndex((each) => each.includes(before));
    assert.notEqual(at, -1, `${file} has no line with ${before}`);
    writeFileSync(join(folder, file), lines.toSpliced(at, 0, line).join('\n'));
  }
}

function node(...args: string[]): void {
  // Without these it would report to the runner of this test, and use a database without the family's tables.
  const { NODE_TEST_CONTEXT: _, [testServerVariable]: __, ...env } = process.env;
  try {
    execFileSync(process.execPath, args, { cwd: folder, env, encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    assert.fail(`${stdout}\n${stderr}`);
  }
}

test('adding a family edits at most two shared lines', () => {
  assert.ok(sharedLines.length <= 2);
});

test('the generator adds the routes and the tables of the family, and the copy compiles', () => {
  copyTree();
  addFamily();
  node('tools/generate.ts');
  assert.match(readFileSync(join(folder, 'contract/src/routes.ts'), 'utf8'), /getLabel: \['GET'/);
  assert.match(readFileSync(join(folder, 'server/src/database/schema.ts'), 'utf8'), /label: LabelTable;/);
  node(join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', '.');
});

test('the app answers the operations of the family', () => {
  node('--test', 'server/src/labels/labels.test.ts');
});

test('the tests of rights and of odd values try the operations of the family', () => {
  node('--test', 'server/src/access/check-right.test.ts', 'server/src/http/odd-values.test.ts');
});

test('the import rules know the family', () => {
  node('--test', 'tools/house/imports.test.ts');
});
