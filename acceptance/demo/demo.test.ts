/** The demo with each tool: the command that the README names, on the examples that the documentation shows. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { promisify, stripVTControlCharacters } from 'node:util';
import { runnableTools } from '#protocol/tools/index.ts';
import { withOwnProgram } from '../../agent/src/testing/cloudformation/with-own-program.ts';
import { sharedCluster, withCluster } from '../../agent/src/testing/cluster/cluster.ts';
import { pulumiFolder, withPulumi } from '../../agent/src/testing/pulumi/pulumi-folder.ts';
import { pathWith, pythonProgram, toolboxProgram, withToolbox } from '../../tools/toolbox/places.ts';
import { scenarioNames } from './scenarios.ts';

const run = promisify(execFile);
const cluster = sharedCluster();
const helm = withToolbox('helm');
const withHelm = helm.skip === false ? withCluster() : helm;

/** Many times what it takes, also on a busy machine. */
const patienceMilliseconds = 300_000;

/** @param programs whose folders are on the PATH @returns what the demo printed */
async function demo(
  args: readonly string[],
  programs: readonly (string | null)[],
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const PATH = pathWith(...programs);
  const program = join(import.meta.dirname, 'main.ts');
  // The test runner's own variables would make the demo report to it.
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
  const { stdout } = await run(process.execPath, [program, ...args], {
    env: { ...inherited, ...environment, PATH },
    maxBuffer: 50_000_000,
    timeout: patienceMilliseconds,
  });
  return stripVTControlCharacters(stdout);
}

function checkTour(output: string): void {
  assert.match(output, /Drift status: OK/);
  assert.match(output, /The environment is INACTIVE; its history of 4 deployments/);
}

test('the demo deploys with OpenTofu', withToolbox('opentofu'), async () => {
  checkTour(await demo(['--type', 'opentofu'], [toolboxProgram('opentofu')]));
});

test('the demo configures the machine with Ansible', withToolbox('ansible'), async () => {
  checkTour(await demo(['--type', 'ansible'], [pythonProgram('ansible')]));
});

test('the demo deploys a stack', withOwnProgram, async () => {
  checkTour(await demo(['--type', 'cloudformation'], []));
});

test('the demo deploys with Pulumi', withPulumi, async () => {
  checkTour(await demo(['--type', 'pulumi'], [join(pulumiFolder(), 'pulumi')]));
});

/** A namespace in which what is deployed becomes ready, and the file that leads to its cluster. */
async function placeIn(t: TestContext): Promise<{ namespace: string; KUBECONFIG: string }> {
  const { name, kubeconfig, playReadiness } = await (await cluster()).namespace(t);
  playReadiness();
  const folder = await mkdtemp(join(tmpdir(), 'demo-'));
  t.after(() => rm(folder, { recursive: true }));
  const KUBECONFIG = join(folder, 'kubeconfig');
  await writeFile(KUBECONFIG, kubeconfig());
  return { namespace: name, KUBECONFIG };
}

test('the demo deploys units of terragrunt', withToolbox('terragrunt', 'opentofu'), async () => {
  const programs = [toolboxProgram('terragrunt'), toolboxProgram('opentofu')];
  checkTour(await demo(['--type', 'terragrunt'], programs));
});

test('the demo deploys manifests to a cluster', withCluster(), async (t) => {
  const { namespace, KUBECONFIG } = await placeIn(t);
  checkTour(await demo(['--type', 'k8s', '--namespace', namespace], [], { KUBECONFIG }));
});

test('the demo deploys a chart', withHelm, async (t) => {
  const { namespace, KUBECONFIG } = await placeIn(t);
  checkTour(
    await demo(['--type', 'helm', '--namespace', namespace], [toolboxProgram('helm')], { KUBECONFIG }),
  );
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
