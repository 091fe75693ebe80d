import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OperationName } from '#contract/operations.ts';
import { routes } from '#contract/routes.ts';
import { repositoryFiles, textOf } from '../repository.ts';

/** Operations that no command calls, each with its reason. */
const withoutCommand: Partial<Record<OperationName, string>> = {
  getTestingProject: 'serves the tests of modules, which no version has yet',
};

const calls = repositoryFiles()
  .filter((file) => file.startsWith('cli/src/') && file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .flatMap((file) =>
    Array.from(
      (textOf(file) ?? '').matchAll(/\.(?:call|send|bytes|stream)\(\s*'(\w+)'/g),
      ([, name]) => name,
    ),
  );
const called = new Set(calls);

test('every operation has a command, or a reason why not', () => {
  const missing = Object.keys(routes).filter((name) => !called.has(name) && !(name in withoutCommand));
  assert.deepEqual(missing, [], 'add a command to cli/src/commands, or the reason to this test');
});

test('the reasons are for operations that there are, and that no command calls', () => {
  const stale = Object.keys(withoutCommand).filter((name) => !(name in routes) || called.has(name));
  assert.deepEqual(stale, []);
});
