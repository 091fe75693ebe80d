/** The demo with the other tools. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { withOwnProgram } from '../../agent/testing/cloudformation/with-own-program.ts';
import { sharedCluster, withCluster } from '../../agent/testing/cluster/cluster.ts';
import { pulumiFolder, withPulumi } from '../../agent/testing/pulumi/pulumi-folder.ts';
import { pythonProgram, toolboxProgram, withToolbox } from '../../tools/toolbox/places.ts';
import { checkTour, demo } from './run-demo.ts';

const cluster = sharedCluster();
const helm = withToolbox('helm');
const withHelm = helm.skip === false ? withCluster() : helm;

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
