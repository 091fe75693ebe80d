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
import { testServerVariable } from '../server/testing/database-server.ts';
import { repositoryFiles, root } from './tree/repository.ts';

/** An entry of a list: the import and the entry itself, each before the line that contains the text. */
const entries = [
  {
    file: 'contract/src/operations.ts',
    lines: [
      ["import { operations as labels } from './labels/operations.ts';", "'./mcp/operations.ts'"],
      ['  ...labels,', '  ...system,'],
    ],
  },
  {
    file: 'server/src/families.ts',
    lines: [
      [
        "import { family as labels } from './tenancy/labels/family.ts';",
        "'./tenancy/organizations/family.ts'",
      ],
      ['    labels,', '    organizations,'],
    ],
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
  for (const { file, lines } of entries) {
    let text = readFileSync(join(folder, file), 'utf8').split('\n');
    for (const [line, before] of lines) {
      const at = text.findIndex((each) => each.includes(before));
      assert.notEqual(at, -1, `${file} has no line with ${before}`);
      text = text.toSpliced(at, 0, line);
    }
    writeFileSync(join(folder, file), text.join('\n'));
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

test('adding a family edits two lists, one entry each', () => {
  assert.ok(entries.length <= 2);
});

test('the generator adds the routes and the tables of the family, and the copy compiles', () => {
  copyTree();
  addFamily();
  node('tools/generate/generate.ts');
  assert.match(readFileSync(join(folder, 'contract/src/routes.ts'), 'utf8'), /getLabel: \['GET'/);
  assert.match(readFileSync(join(folder, 'server/src/rows/schema.ts'), 'utf8'), /label: LabelTable;/);
  node(join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', '.');
});

test('the app answers the operations of the family', () => {
  node('--test', 'server/src/tenancy/labels/labels.test.ts');
});

test('the tests of rights and of odd values try the operations of the family', () => {
  node(
    '--test',
    'server/src/framework/access/check-right.test.ts',
    'server/src/framework/http/unusual-values.test.ts',
  );
});

test('the import rules know the family', () => {
  node('--test', 'tools/house/imports.test.ts', 'tools/house/tables.test.ts');
});
