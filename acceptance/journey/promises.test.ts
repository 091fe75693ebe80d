import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { runnableTools, tools } from '#protocol/tools/index.ts';
import { promisesOf } from './promises.ts';

for (const type of runnableTools)
  test(`docs/use/tools.md promises of ${type} what its facts say`, async () => {
    const { approval, state, planArguments, importsResources, steps } = tools[type];
    const promised = await promisesOf(type);
    assert.deepEqual(
      {
        isExact: promised.isExact,
        hasStates: promised.hasStates,
        hasTargets: promised.hasTargets,
        importsResources: promised.importsResources,
      },
      {
        isExact: approval.isExact,
        hasStates: state !== null,
        hasTargets: planArguments({ targets: ['one'], skipsRefresh: false }).length > 0,
        importsResources,
      },
    );
    if (steps.outputs !== null) assert.ok(promised.hasOutputs);
  });

test('every tool makes the journey', async () => {
  const files = await readdir(import.meta.dirname);
  const travelling = files.flatMap((file) => /^([a-z0-9]+)\.test\.ts$/.exec(file)?.[1] ?? []);
  assert.deepEqual(
    runnableTools.filter((tool) => !travelling.includes(tool)),
    [],
  );
});
