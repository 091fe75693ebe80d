import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { builtPages, generators } from '../generate/generators.ts';
import { repositoryFiles, root, textOf } from '../tree/repository.ts';
import { importsOf } from './imports.ts';

/**
 * Exported functions and constants that only tests import, by the reason. Tests go through what programs call: remove
 * entries, and add none that could be tested so.
 */
const onlyForTests: Readonly<Record<string, readonly string[]>> = {
  'decisions over facts, with more cases than a test of their caller can set up': [
    'agent/src/processes/log-watch.ts isMostlyEmpty',
    'server/src/ground/database/account.ts isMapped',
  ],
  'passes of loops, which tests start one by one': [
    'server/src/automation/notifications/delivery/courier.ts deliverDue',
    'server/src/framework/effects/carry-out.ts carryOutDue',
  ],
  'what tests set up or count, as nothing outside of the process shows it': [
    'agent/src/processes/run-groups.ts createRunGroups',
    'server/src/rules/approval-policies/evaluation/policy-engine.ts readyPolicies',
  ],
  'what a forge will call when a push is reported': ['server/src/automation/discovery/poll.ts scanAfterPush'],
};

const { imports: aliases } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  imports: Record<string, string>;
};
const rooms = ['agent', 'cli', 'clouds', 'guards', 'protocol', 'server', 'settings', 'web'];
const isTest = (file: string) => /\.test\.tsx?$|^acceptance\/|\/(?:testing|__fixtures__)\//.test(file);

/** Importers by `file#name`; `file#*` for all of its names. */
function importersByName(): ReadonlyMap<string, ReadonlySet<string>> {
  const importers = new Map<string, Set<string>>();
  for (const from of repositoryFiles().filter((file) => /\.(?:tsx?|mjs)$/.test(file)))
    for (const { file, names } of importsOf(from, textOf(from) ?? '', aliases))
      for (const name of names ?? ['*']) {
        const key = `${file}#${name}`;
        importers.set(key, (importers.get(key) ?? new Set()).add(from));
      }
  for (const { module, exported } of [...generators, ...builtPages])
    importers.set(`${module}#${exported}`, new Set(['tools/generate/generators.ts']));
  return importers;
}

test('what is exported is used by a program, apart from a few exports for tests', () => {
  const importers = importersByName();
  const unused: string[] = [];
  for (const file of repositoryFiles())
    if (/\.tsx?$/.test(file) && rooms.includes(file.split('/')[0] ?? '') && !isTest(file))
      for (const [, name = ''] of (textOf(file) ?? '').matchAll(
        /^export (?:async )?(?:function\*?|const|class|let) (\w+)/gm,
      )) {
        const by = [...(importers.get(`${file}#${name}`) ?? []), ...(importers.get(`${file}#*`) ?? [])];
        if (by.every(isTest)) unused.push(`${file} ${name}`);
      }
  assert.deepEqual(unused.toSorted(), Object.values(onlyForTests).flat().toSorted());
});
