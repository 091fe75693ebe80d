import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { discoveryBench } from './discovery/scans.ts';
import { redeployBench } from './redeploy.ts';
import { variablesBench } from './variables.ts';

const skip = spawnSync('terraform', ['version']).error !== undefined && 'terraform is not on the PATH';

test('redeployments are measured in turn with the script', { skip }, async () => {
  const { figures, settings } = await redeployBench({ isQuick: true });
  assert.equal(settings['isolation'], process.env.ENVARIUM_ISOLATION ?? 'auto');
  for (const kind of ['another value', 'another value and commit'])
    for (const name of ['request to final status', 'the script'])
      assert.ok(
        (figures.find((one) => one.name === `${kind}: ${name}`)?.median ?? 0) > 0,
        `${kind}: ${name}`,
      );
});

test('variables of all levels that the service accepts are measured', { skip }, async () => {
  const { figures } = await variablesBench({ isQuick: true });
  assert.ok(figures.length > 0);
  for (const { name, median } of figures) assert.ok(Number.isFinite(median), name);
});

test('scans of discovery are measured until their environments are created', async () => {
  const { figures } = await discoveryBench({ isQuick: true });
  assert.equal(figures.length, 5);
  for (const { name, unit, median } of figures) if (unit === 'ms') assert.ok(median > 0, name);
});
