/** Difference from the main branch, and the tests that it reaches. */
import { execFileSync } from 'node:child_process';
import { root } from '../tree/repository.ts';
import { type ImportGraph, importersIn, reachableFrom } from './import-graph.ts';

/**
 * Files that differ from the last commit that this branch shares with main, including those that are not committed or not in git yet.
 * @throws Error where there is no git repository, or no branch main
 */
export function changedFiles(folder = root): string[] {
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const base = git('merge-base', 'main', 'HEAD').trim();
  const different = git('diff', '--name-only', '--no-renames', '-z', base);
  const unknown = git('ls-files', '--others', '--exclude-standard', '-z');
  return [...new Set(`${different}${unknown}`.split('\0').filter(Boolean))].toSorted();
}

/** Test files that import one of some files, directly or through others, or are one of them. */
export function testsReachedBy(files: readonly string[], graph: ImportGraph): ReadonlySet<string> {
  const known = files.filter((file) => graph.has(file));
  const reached = reachableFrom(importersIn(graph), known);
  return new Set([...reached].filter((file) => file.endsWith('.test.ts')));
}
