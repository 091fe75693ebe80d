/** A copy of the repository with added files and entries of lists: what a contributor makes who follows a page of docs. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { testServerVariable } from '../../server/testing/database-server.ts';
import { expectedToolsVariable } from '../toolbox/places.ts';
import { repositoryFiles, root } from '../tree/repository.ts';

/** One entry of a list: texts to insert, each before the first place that has another text. */
export interface ListEntry {
  readonly file: string;
  readonly inserts: readonly (readonly [text: string, before: string])[];
}

export interface ExtendedCopy extends Disposable {
  /** Text of a file of the copy. */
  text(file: string): string;
  /** Runs Node in the copy. @param args below the root of the copy @throws AssertionError with the output if it fails */
  node(...args: string[]): void;
  /** Compiles everything, the web interface too. */
  compile(): void;
  /** Runs all rules of the house, and lint and format check of what was added. */
  checkRules(): void;
}

function addEntry(folder: string, { file, inserts }: ListEntry): void {
  let content = readFileSync(join(folder, file), 'utf8');
  for (const [text, before] of inserts) {
    assert.ok(content.includes(before), `${file} does not contain ${before}`);
    content = content.replace(before, () => text + before);
  }
  writeFileSync(join(folder, file), content);
}

/** @param added folder of the files to add, with `.txt` after their names, because they fit into the copy only */
export function extendRepository(added: string, entries: readonly ListEntry[]): ExtendedCopy {
  const folder = mkdtempSync(join(tmpdir(), 'extended-copy-'));
  // The runs of the copy have users of their own.
  chmodSync(folder, 0o755);
  const copy = (from: string, to: string) => {
    mkdirSync(dirname(join(folder, to)), { recursive: true });
    cpSync(join(root, from), join(folder, to));
  };
  for (const file of repositoryFiles()) copy(file, file);
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const files = repositoryFiles(join(root, added)).map((from) => {
    const file = from.slice(added.length).replace(/\.txt$/, '');
    copy(from, file);
    return file;
  });
  for (const entry of entries) addEntry(folder, entry);

  // With these it would report to the runner of this test, use a database without the new tables, and find no tools.
  const env = { ...process.env };
  for (const name of ['NODE_TEST_CONTEXT', testServerVariable, expectedToolsVariable]) delete env[name];
  const node = (...args: string[]) => {
    try {
      execFileSync(process.execPath, args, { cwd: folder, env, encoding: 'utf8', stdio: 'pipe' });
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string };
      assert.fail(`${stdout}\n${stderr}`);
    }
  };
  return {
    text: (file) => readFileSync(join(folder, file), 'utf8'),
    node,
    compile() {
      node('node_modules/typescript/bin/tsc', '-p', '.');
      node('node_modules/typescript/bin/tsc', '-p', 'web');
    },
    checkRules() {
      const changed = [...files, ...entries.map(({ file }) => file)].filter((file) => /\.tsx?$/.test(file));
      node('node_modules/@biomejs/biome/bin/biome', 'check', ...changed);
      node('node_modules/oxlint/bin/oxlint', '--type-aware', '--deny-warnings', ...changed);
      const rules = readdirSync(join(folder, 'tools/house')).filter((file) => file.endsWith('.test.ts'));
      node('--test', ...rules.map((file) => `tools/house/${file}`));
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
