/**
 * Adds a tool to a copy of the repository as docs/contribute/adding-a-tool.md says: a file of facts, a driver folder, and
 * one line in each of the lists below. Nothing else may need an edit for the copy to compile, to pass the
 * conformance suite, and to plan and apply with the real runner.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { repositoryFiles, root } from './tree/repository.ts';

/** Lines that are added to shared files, each before the line that begins with `before`. */
const sharedLines = [
  { file: 'contract/src/schema/template-types.ts', before: "  'opentofu',", line: "  'sham'," },
  {
    file: 'protocol/src/tools/list.ts',
    before: 'export { opentofu }',
    line: "export { sham } from './sham.ts';",
  },
  {
    file: 'agent/src/drivers/list.ts',
    before: 'export { opentofu }',
    line: "export { sham } from './sham/driver.ts';",
  },
] as const;

/** The files that a tool adds, with `.txt` behind their names, because they fit into the copy only. */
const added = 'tools/sham-tool/';

const folder = mkdtempSync(join(tmpdir(), 'adding-a-tool-'));
// The runs of the copy have users of their own.
chmodSync(folder, 0o755);
after(() => rmSync(folder, { recursive: true, force: true }));

function copyTree(): void {
  for (const file of repositoryFiles()) {
    const isProgram = /^(clouds|contract|guards|protocol|settings|agent|server|cli|tools)\//.test(file);
    if (file.startsWith(added) || !(isProgram || ['package.json', 'tsconfig.json'].includes(file))) continue;
    copy(file, file);
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(join(folder, to)), { recursive: true });
  cpSync(join(root, from), join(folder, to));
}

function addTool(): void {
  for (const file of repositoryFiles(join(root, added)))
    copy(file, file.slice(added.length).replace(/\.txt$/, ''));
  for (const { file, before, line } of sharedLines) {
    const lines = readFileSync(join(folder, file), 'utf8').split('\n');
    const at = lines.findIndex((each) => each.startsWith(before));
    assert.notEqual(at, -1, `${file} has no line that begins with ${before}`);
    writeFileSync(join(folder, file), lines.toSpliced(at, 0, line).join('\n'));
  }
}

function node(...args: string[]): void {
  // Else it would report to the runner of this test.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  try {
    execFileSync(process.execPath, args, { cwd: folder, env, encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    assert.fail((error as { stdout: string }).stdout);
  }
}

test('adding a tool edits at most three shared lines', () => {
  assert.ok(sharedLines.length <= 3);
});

test('the copy with the tool compiles', () => {
  copyTree();
  addTool();
  node(join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', '.');
});

test('the driver of the tool passes the conformance suite, next to the others', () => {
  node('--test', 'agent/src/drivers/conformance.test.ts', 'agent/src/drivers/damaged-output.test.ts');
});

test('the real runner plans, applies, repeats and destroys with the tool', () => {
  node('--test', 'agent/src/drivers/sham/runs.test.ts');
});
