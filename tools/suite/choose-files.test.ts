import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { changedFiles, testsReachedBy } from './changed-files.ts';
import { choiceOf, chooseFiles, hasChecks, isWhole } from './choose-files.ts';

const tests = ['acceptance/a.test.ts', 'agent/a.slow.test.ts', 'agent/b.test.ts', 'cli/c.test.ts'];
const changed = () => new Set(['agent/b.test.ts', 'agent/a.slow.test.ts']);

for (const [words, chosen] of [
  ['', ['acceptance/a.test.ts', 'agent/b.test.ts', 'cli/c.test.ts']],
  ['quick', ['agent/b.test.ts', 'cli/c.test.ts']],
  ['slow', ['agent/a.slow.test.ts']],
  ['changed', ['agent/b.test.ts']],
  ['agent', ['agent/b.test.ts']],
  ['./agent/a.slow.test.ts cli', ['agent/a.slow.test.ts', 'cli/c.test.ts']],
  ['slow cli', []],
] as const)
  test(`"npm test -- ${words}" chooses ${chosen.join(', ') || 'nothing'}`, () => {
    assert.deepEqual(chooseFiles(choiceOf(words.split(' ').filter(Boolean)), tests, changed), chosen);
  });

test('checks are part of "npm test" and of "quick", builds of "npm test" alone', () => {
  const modes = ['', 'quick', 'slow', 'changed', 'agent'].map((word) => choiceOf(word ? [word] : []));
  assert.deepEqual(modes.map(hasChecks), [true, true, false, false, false]);
  assert.deepEqual(modes.map(isWhole), [true, false, false, false, false]);
});

/** A repository with a branch that has left main. */
function branch(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'envarium changed '));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@localhost', ...args]);
  const write = (file: string, text: string) => {
    mkdirSync(join(folder, file, '..'), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  const commit = () => {
    git('add', '--all');
    git('commit', '--quiet', '--message', 'change');
  };
  git('init', '--quiet', '--initial-branch', 'main');
  for (const file of ['same.ts', 'on-main.ts', 'committed.ts', 'edited.ts', 'old name.ts']) write(file, file);
  commit();
  git('checkout', '--quiet', '-b', 'feature');
  write('committed.ts', 'other');
  commit();
  git('checkout', '--quiet', 'main');
  write('on-main.ts', 'other');
  commit();
  git('checkout', '--quiet', 'feature');
  return { folder, git, write };
}

test('what is committed, edited, renamed and new differs from main, what main changed since does not', (t) => {
  const { folder, git, write } = branch(t);
  write('edited.ts', 'other');
  write('new folder/é.ts', '');
  git('mv', 'old name.ts', 'new name.ts');
  assert.deepEqual(changedFiles(folder), [
    'committed.ts',
    'edited.ts',
    'new folder/é.ts',
    'new name.ts',
    'old name.ts',
  ]);
});

test('a change reaches itself and the tests that import it, directly or not', () => {
  const graph = new Map([
    ['a.ts', []],
    ['b.ts', ['a.ts']],
    ['a.test.ts', ['a.ts']],
    ['b.test.ts', ['b.ts']],
    ['c.test.ts', ['c.ts']],
    ['d.test.ts', []],
  ]);
  const reached = testsReachedBy(['a.ts', 'd.test.ts', 'page.md'], graph);
  assert.deepEqual([...reached].toSorted(), ['a.test.ts', 'b.test.ts', 'd.test.ts']);
});
