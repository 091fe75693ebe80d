/** Programs that a driver runs in addition to the tool's own, with the real runner. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { expectResult } from '../../../testing/outcomes.ts';
import { createSetup, withTerraform } from '../../../testing/runner-setup.ts';
import { type Release, startToolMirror, type ToolMirror } from '../../../testing/tool-mirror.ts';
import { findProgram } from '../../processes/programs.ts';
import type { MirrorOrder } from '../../toolchain/tool-mirror.ts';

const objects = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: one }\n';
const kubeconfig = [
  'apiVersion: v1',
  'kind: Config',
  'clusters: [{ name: none, cluster: { server: "https://127.0.0.1:9" } }]',
  'contexts: [{ name: none, context: { cluster: none, user: none } }]',
  'users: [{ name: none, user: { token: none } }]',
  'current-context: none',
  '',
].join('\n');
const toolPaths = { git: findProgram('git') ?? '', helm: '', kubectl: '', kustomize: '' };

async function mirrorOf(t: TestContext, program: string, ...versions: string[]): Promise<ToolMirror> {
  const releases = versions.map((version): Release => ({ version }));
  const mirror = await startToolMirror(program, releases);
  t.after(() => mirror[Symbol.asyncDispose]());
  return mirror;
}

/** Tasks: those of k8s need kubectl and may use kustomize, those of helm need helm and kubectl. */
function stage(t: TestContext, mirrors: Record<string, MirrorOrder | null>, tool: 'k8s' | 'helm' = 'k8s') {
  const chart = 'apiVersion: v2\nname: one\nversion: 1.0.0\n';
  const setup = createSetup(t, {
    'objects.yaml': objects,
    'kubeconfig.yaml': kubeconfig,
    'Chart.yaml': chart,
  });
  const cacheFolder = join(setup.folder, 'cache');
  mkdirSync(cacheFolder, { mode: 0o755 });
  return (variables: Record<string, string>, ...commands: string[]) => {
    const environment = Object.entries({ KUBECONFIG: 'kubeconfig.yaml', ...variables }).map(
      ([name, value]) => ({
        name,
        value,
        isSensitive: false,
      }),
    );
    const job = setup.job({
      tool,
      type: 'task',
      variables: { environment, terraform: [] },
      taskPayload: commands.join('\n'),
    });
    const toolchain = { cacheFolder, cacheBytes: 1e9, mirrors };
    return setup.run(job, { order: { toolchain }, toolPaths });
  };
}

test('each program is fetched in the version that its variable requests', withTerraform, async (t) => {
  const kubectl = await mirrorOf(t, 'kubectl', '1.33.1', '1.34.0');
  const kustomize = await mirrorOf(t, 'kustomize', '5.4.1', '5.5.0');
  const run = stage(t, { kubectl: { url: kubectl.url }, kustomize: { url: kustomize.url } });
  const ran = await run(
    { ENVARIUM_KUBECTL_VERSION: '1.33.1', ENVARIUM_KUSTOMIZE_VERSION: 'latest' },
    'kubectl version',
    'kustomize version',
  );
  assert.equal(ran.outcome.result, 'applied', JSON.stringify(ran.outcome.error));
  assert.equal(ran.outcome.toolVersion, '1.33.1');
  const log = ran.log('variables:setup');
  assert.match(log, /^kubectl 1\.33\.1 \(\S+\/kubectl, from the tool cache\)$/m);
  assert.match(log, /^kustomize 5\.5\.0 \(\S+\/kustomize, from the tool cache\)$/m);
  assert.match(ran.log('task:run'), /"v1\.33\.1"[^]*"v5\.5\.0"/);
});

test('a companion that every run needs is fetched, too', withTerraform, async (t) => {
  const [helm, kubectl] = [await mirrorOf(t, 'helm', '3.19.0'), await mirrorOf(t, 'kubectl', '1.34.0')];
  const run = stage(t, { helm: { url: helm.url }, kubectl: { url: kubectl.url } }, 'helm');
  const ran = await expectResult('applied', run({}, 'helm version', 'kubectl version'));
  assert.equal(ran.outcome.toolVersion, '3.19.0');
  assert.match(ran.log('variables:setup'), /^helm 3\.19\.0 [^]*^kubectl 1\.34\.0 /m);
});

test('an optional program is only fetched if a version is requested', withTerraform, async (t) => {
  const kubectl = await mirrorOf(t, 'kubectl', '1.34.0');
  const kustomize = await mirrorOf(t, 'kustomize', '5.5.0');
  const run = stage(t, { kubectl: { url: kubectl.url }, kustomize: { url: kustomize.url } });
  const ran = await expectResult(
    'applied',
    run({}, 'kubectl version', '[ ! -e "$(dirname "$(command -v kubectl)")/kustomize" ]'),
  );
  assert.equal(ran.outcome.toolVersion, '1.34.0');
  assert.deepEqual(kustomize.requests, []);
});

test('a missing companion ends the run, with its name', withTerraform, async (t) => {
  const kubectl = await mirrorOf(t, 'kubectl', '1.34.0');
  const run = stage(t, { kubectl: { url: kubectl.url }, kustomize: null });
  const { outcome, steps } = await run({ ENVARIUM_KUSTOMIZE_VERSION: '5.5.0' }, 'true');
  assert.match(
    outcome.error?.message ?? '',
    /^kustomize 5\.5\.0 is requested by the variable ENVARIUM_KUSTOMIZE_VERSION, but this agent has no kustomize/,
  );
  assert.equal(outcome.failedCommand, 'kustomize');
  assert.equal(steps()['variables:setup'], 'FAIL');
});
