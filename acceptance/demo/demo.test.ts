/** The demo: the command that the README names, on the examples that the documentation shows. */
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { runnableTools } from '#protocol/tools/index.ts';
import { toolboxProgram, withToolbox } from '../../tools/toolbox/places.ts';
import { checkTour, demo } from './run-demo.ts';
import { scenarioNames } from './scenarios.ts';

test('the demo deploys with OpenTofu', withToolbox('opentofu'), async () => {
  checkTour(await demo(['--type', 'opentofu'], [toolboxProgram('opentofu')]));
});

test('the demo knows every tool', () => {
  assert.deepEqual([...scenarioNames].sort(), runnableTools.toSorted());
});

test('the demo says what it needs, and which tools it knows', async () => {
  await assert.rejects(demo(['--type', 'hammer'], []), {
    stderr: /knows terraform, opentofu, terragrunt, k8s/,
  });
  const KUBECONFIG = join(tmpdir(), 'no-such-kubeconfig');
  await assert.rejects(demo(['--type', 'k8s'], [], { KUBECONFIG }), {
    stderr: /needs (a cluster, and there is no .*no-such-kubeconfig|kubectl)/,
  });
});
